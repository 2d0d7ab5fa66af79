"""The user's whole state around runs that are made only to look, parameters and optimizers too."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from graphlens.capture.kept_values import KeptValues
from graphlens.capture.reachable import Reachable
from graphlens.capture.state import kept_random_state, kept_state, named_parameters
from graphlens.model import Note

# These would tell of changes that are put back here.
_PUT_BACK_HERE = ("parameters-changed", "optimizer-changed")


@contextmanager
def kept_program(found: Reachable, notes: list[Note]) -> Iterator[None]:
    """Puts back all that a run of the program changed: as `kept_state`, and what trains.

    Costs a copy of the parameters and of the optimizers' state while it lasts.

    Args:
        found: What the program can reach.
        notes: Takes a note for what could not be put back.
    """
    told: list[Note] = []
    with kept_random_state(), kept_state(found, told):
        parameters = KeptValues(trained(found))
        optimizers = [_KeptOptimizer(one) for one in found.optimizers.values()]
        try:
            yield
        finally:
            for one in optimizers:
                one.put_back()
            told += parameters.put_back()
    notes += [note for note in told if note.code not in _PUT_BACK_HERE and note not in notes]


def trained(found: Reachable) -> dict[str, torch.Tensor]:
    """Parameters of modules and optimizers and other leaves that need gradients, each once."""
    named = named_parameters(found)
    named += [(name, tensor) for name, tensor in found.tensors.items() if tensor.requires_grad]
    seen: dict[int, str] = {}
    return {name: one for name, one in named if seen.setdefault(id(one), name) == name}


class _KeptOptimizer:
    """The state and settings of an optimizer: the same dictionaries afterwards."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer
        self.state = {key: _copied(value) for key, value in optimizer.state.items()}
        self.groups = [
            {key: copy.copy(value) for key, value in group.items() if key != "params"}
            for group in optimizer.param_groups
        ]

    def put_back(self) -> None:
        for key in [key for key in self.optimizer.state if key not in self.state]:
            del self.optimizer.state[key]
        for key, kept in self.state.items():
            held = self.optimizer.state[key]
            if isinstance(kept, dict) and isinstance(held, dict):
                _restored(held, kept)
            else:
                self.optimizer.state[key] = kept
        for group, kept in zip(self.optimizer.param_groups, self.groups, strict=True):
            _restored(group, {**kept, "params": group["params"]})


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return value.detach().clone() if isinstance(value, torch.Tensor) else copy.copy(value)


def _restored(held: dict[Any, Any], kept: dict[Any, Any]) -> None:
    """Tensors stay the same objects, as others may hold them."""
    for key in [key for key in held if key not in kept]:
        del held[key]
    for key, value in kept.items():
        own = held.get(key)
        if isinstance(own, torch.Tensor) and isinstance(value, torch.Tensor):
            with torch.no_grad():
                own.copy_(value)
        else:
            held[key] = value
