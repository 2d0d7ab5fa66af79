"""Where eager torch keeps what a call may change: modules' dictionaries, views, versions.

Seen on torch 2.13 and 2.14.
"""

from contextlib import AbstractContextManager
from typing import Any

import torch

from graphlens._torch.probes import probe

# Attributes that ``torch.compile`` itself sets on the module it is given (2.14).
COMPILE_MARKS = frozenset({"_is_torch_compile"})
_REGISTERED = ("_parameters", "_buffers", "_modules")


def attribute_dicts(module: torch.nn.Module) -> list[dict[str, Any]]:
    """The dictionaries of a module's attributes: its own, parameters, buffers, submodules.

    The real ones, not copies. A scripted module has only its own.
    """
    own = vars(module)
    registered = (own.get(name) for name in _REGISTERED)
    return [own, *(found for found in registered if isinstance(found, dict))]


def buffer_dict(module: torch.nn.Module) -> dict[str, Any]:
    """The dictionary that holds a module's buffers, those that are None included."""
    found = vars(module).get("_buffers")
    return found if isinstance(found, dict) else {}


def view_base(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor that autograd knows this one to be a view of."""
    return tensor._base if tensor._is_view() else None


def without_torch_function() -> AbstractContextManager[None]:
    """A block in which subclasses of tensors do not take over operators."""
    block: AbstractContextManager[None] = torch._C.DisableTorchFunctionSubclass()
    return block


def version(tensor: torch.Tensor) -> int | None:
    """How often a tensor was written in place; None where torch does not count."""
    try:
        return int(tensor._version)
    except RuntimeError:  # made in inference mode
        return None


@probe("modules' dictionaries, views and versions of tensors", seen_on="2.13, 2.14")
def _probe_eager() -> str:
    module = torch.nn.BatchNorm1d(1)
    if "running_mean" not in buffer_dict(module) or len(attribute_dicts(module)) != 4:
        raise TypeError("nn.Module keeps its buffers elsewhere")
    whole = torch.zeros(2)
    view = whole[:1]
    before = version(whole)
    view.add_(1)
    if view_base(view) is not whole or version(whole) == before:
        raise TypeError("views or versions are not as expected")
    return "found"
