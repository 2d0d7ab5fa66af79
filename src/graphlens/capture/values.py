"""What is known of a node's value: tensors as specs, symbolic numbers as text."""

from collections.abc import Iterator
from typing import Any

import torch

from graphlens.model import Dim, TensorSpec


def value_of(node: torch.fx.Node) -> tuple[tuple[TensorSpec, ...], str]:
    """The tensors in a node's value, and the value as text where it holds none.

    AOTAutograd keeps it under ``val``, Dynamo under ``example_value`` (torch 2.11 to 2.14).
    """
    if "val" in node.meta:
        value = node.meta["val"]
    elif "example_value" in node.meta:
        value = node.meta["example_value"]
    else:
        return (), ""
    tensors = tuple(tensor_spec(tensor) for tensor in _tensors(value))
    return tensors, "" if tensors else _text(value)


def tensor_spec(tensor: torch.Tensor) -> TensorSpec:
    """Shape, dtype, stride and device of a tensor; reads no value and adds no guard."""
    strided = tensor.layout == torch.strided and not tensor.is_nested
    return TensorSpec(
        shape=tuple(_dim(size) for size in tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        stride=tuple(_dim(step) for step in tensor.stride()) if strided else None,
        device=str(tensor.device),
        requires_grad=tensor.requires_grad,
    )


def _dim(size: int | torch.SymInt) -> Dim:
    return size if isinstance(size, int) else str(size)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)


def _text(value: Any) -> str:
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return f"Sym({value})"
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return repr(value)
    return type(value).__name__
