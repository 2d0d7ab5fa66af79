"""What a call of a program gave: every tensor that the caller can see, by name."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

_SCALARS = (int, float, complex, str, bool, bytes)


@dataclass(frozen=True)
class Leaf:
    """A tensor or plain value.

    Attributes:
        name: In the user's terms.
        role: ``output``, ``gradient``, ``input`` or ``buffer``.
        value: Tensors detached, and copied where a later call can change them.
        kind: Name of the value's type.
        stride: Of a strided tensor.
    """

    name: str
    role: str
    value: Any
    kind: str
    stride: tuple[int, ...] | None = None


@dataclass
class CallResult:
    """One call.

    Attributes:
        leaves: What it gave and changed, in order; what it changed even where it raised.
        kind: Type of what it returned, with the types in a tuple or list.
        error: What it raised.
    """

    leaves: list[Leaf] = field(default_factory=list)
    kind: str = ""
    error: BaseException | None = None


def leaf(name: str, role: str, value: Any, own: bool = False) -> Leaf:
    """A value as it is now.

    Args:
        name: In the user's terms.
        role: As `Leaf.role`.
        value: Plain tensors are copied.
        own: Whether nobody else has it, so that it needs no copy.
    """
    if not isinstance(value, torch.Tensor):
        return Leaf(name, role, value, type(value).__name__)
    strided = value.layout == torch.strided and not value.is_nested
    kept = value.detach().clone() if strided and not own else value.detach()
    stride = tuple(value.stride()) if strided else None
    return Leaf(name, role, kept, type(value).__name__, stride)


def shape_of(value: Any) -> str:
    """The type of a returned value, with those inside of a tuple or list."""
    if type(value) not in (tuple, list):
        return type(value).__name__
    return f"{type(value).__name__}({', '.join(type(one).__name__ for one in value)})"


def flattened(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Tensors and plain values in a structure, by the expression that reaches each."""
    if isinstance(value, torch.Tensor) or value is None or isinstance(value, _SCALARS):
        yield name, value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from flattened(getattr(value, one.name, None), f"{name}.{one.name}")
    elif isinstance(value, Mapping):
        for key in value:
            yield from flattened(value[key], f"{name}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from flattened(one, f"{name}[{index}]")
    elif isinstance(value, (set, frozenset)):
        for index, one in enumerate(sorted(value, key=repr)):
            yield from flattened(one, f"{name}{{{index}}}")
    elif type(value).__module__ == "numpy":
        yield name, torch.as_tensor(value)
    else:
        yield name, f"<{type(value).__name__}>"
