"""The user's state around a call that is made only to look: kept, and put back."""

import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

import torch

from graphlens.capture.kept_containers import KeptContainers
from graphlens.capture.kept_values import KeptGradients, KeptValues
from graphlens.capture.reachable import Reachable
from graphlens.capture.watched import KeptAttributes, WatchedOptimizers, WatchedTensors
from graphlens.model import Note

# A data set may be in reach as one tensor; larger ones are watched, and buffers always copied.
LARGEST_COPY = 64 * 2**20


class Keeper(Protocol):
    """Part of the state as it was when this was made."""

    def put_back(self) -> Sequence[Note]: ...


@contextmanager
def kept_random_state() -> Iterator[None]:
    """Puts back the random states of torch, Python and NumPy (where it is loaded)."""
    numpy = sys.modules.get("numpy")
    python_state = random.getstate()
    numpy_state = numpy.random.get_state() if numpy else None
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            random.setstate(python_state)
            if numpy is not None and numpy_state is not None:
                numpy.random.set_state(numpy_state)


@contextmanager
def kept_state(found: Reachable, notes: list[Note]) -> Iterator[None]:
    """Puts back buffers, gradients and other tensors that the call changed.

    Args:
        found: What the call can reach.
        notes: Takes a note for what changed and was not put back. Parameters and optimizers are
            not: a copy of them would double the model's memory.
    """
    modules = {
        path: module
        for root, held in found.modules.items()
        for path, module in held.named_modules(prefix=root)
    }
    watched, copied = _split(found)
    keepers = (
        WatchedOptimizers(found.optimizers),
        WatchedTensors(watched),
        KeptGradients(watched),
        KeptValues(copied),
        KeptContainers(found),
        KeptAttributes(modules),
    )

    def put_back(keeper: Keeper) -> None:
        notes.extend(keeper.put_back())

    # The last is put back first, and all are even where one fails. Attributes come first, since
    # the values are those of the buffers of before.
    with ExitStack() as stack:
        for keeper in keepers:
            stack.callback(put_back, keeper)
        yield


def named_parameters(found: Reachable) -> list[tuple[str, torch.Tensor]]:
    """Parameters of modules, then those of optimizers; one can be there under several names."""
    return [
        pair
        for root, module in found.modules.items()
        for pair in module.named_parameters(prefix=root)
    ] + [
        (f"{name}.param_groups[{number}][{index}]", parameter)
        for name, optimizer in found.optimizers.items()
        for number, group in enumerate(optimizer.param_groups)
        for index, parameter in enumerate(group["params"])
    ]


def _split(found: Reachable) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Tensors that are watched, parameters above all, and those that are copied; each once."""
    buffers = [
        pair for root, module in found.modules.items() for pair in module.named_buffers(prefix=root)
    ]
    watched: dict[str, torch.Tensor] = {}
    copied: dict[str, torch.Tensor] = {}
    seen: set[int] = set()

    def sort(name: str, tensor: torch.Tensor, into: dict[str, torch.Tensor]) -> None:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            into[name] = tensor

    for name, parameter in named_parameters(found):
        sort(name, parameter, watched)
    for name, buffer in buffers:
        sort(name, buffer, copied)
    for name, tensor in found.tensors.items():
        sort(name, tensor, watched if tensor.requires_grad or _is_large(tensor) else copied)
    return watched, copied


def _is_large(tensor: torch.Tensor) -> bool:
    try:
        return tensor.numel() * tensor.element_size() > LARGEST_COPY
    except Exception:  # noqa: BLE001  no size yet, or an unusual kind
        return True
