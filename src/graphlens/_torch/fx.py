"""Names of functions in FX graphs, and what a compiled function is.

Seen on torch 2.11, 2.13 and 2.14.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.fx.node import _get_qualified_name

from graphlens._torch.probes import probe


def qualified_name(function: Callable[..., Any] | str) -> str:
    """A function's name as FX's own code would print it."""
    if isinstance(function, torch._ops.OpOverload):
        return f"torch.ops.{function}"
    if isinstance(function, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{function._name}"
    try:
        name = str(_get_qualified_name(function))  # type: ignore[arg-type]
    except (AttributeError, RuntimeError, TypeError):
        name = getattr(function, "__qualname__", None) or repr(function)
    return name.replace("_operator.", "operator.", 1) if name.startswith("_operator.") else name


@probe("names of operators", seen_on="2.11, 2.13, 2.14")
def _probe_names() -> str:
    expected: dict[Any, str] = {
        torch.ops.aten.add.Tensor: "torch.ops.aten.add.Tensor",
        torch.relu: "torch.relu",
        torch.cond: "torch.cond",
    }
    for function, name in expected.items():
        if qualified_name(function) != name:
            raise TypeError(f"{name} is now called {qualified_name(function)}")
    return f"{len(expected)} as expected"
