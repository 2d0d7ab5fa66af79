"""The user's state around a call that is made only to look: kept, and put back."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree


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
def kept_module_state(modules: list[torch.nn.Module]) -> Iterator[list[str]]:
    """Puts back buffers that the call changed, such as batch norm's running statistics.

    Yields:
        A list that is filled at the end with the names of parameters that the call changed and
        that are not put back: keeping a copy of them would double the model's memory.
    """
    buffers = [(buffer, buffer.detach().clone()) for m in modules for buffer in m.buffers()]
    parameters = [(name, p, p._version) for m in modules for name, p in m.named_parameters()]
    changed: list[str] = []
    try:
        yield changed
    finally:
        with torch.no_grad():
            for buffer, copy in buffers:
                # By value: batch norm does not raise the version of its statistics.
                if not torch.equal(buffer, copy):
                    buffer.copy_(copy)
        changed += [name for name, parameter, before in parameters if parameter._version != before]


def copied_inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Arguments with every tensor copied, so that the call cannot change the user's.

    A tensor given twice stays one tensor. Views of one storage become separate tensors.
    """
    copies: dict[int, torch.Tensor] = {}

    def copied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in copies:
            copies[id(value)] = _copy(value)
        return copies[id(value)]

    return pytree.tree_map(copied, (args, kwargs))  # type: ignore[no-any-return]


def modules_of(target: Any) -> list[torch.nn.Module]:
    """Modules a callable is known to run: itself, its owner, and those in its closure."""
    found = [target, getattr(target, "__self__", None)]
    found += [_contents(cell) for cell in getattr(target, "__closure__", None) or ()]
    return [value for value in found if isinstance(value, torch.nn.Module)]


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_leaf:
        copy = tensor.detach().clone()
        return copy.requires_grad_(tensor.requires_grad)
    return tensor.clone()
