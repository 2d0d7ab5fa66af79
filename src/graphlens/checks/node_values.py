"""The value of each node of a graph, and its gradient, in one run in eager."""

from collections.abc import Sequence
from typing import Any

import torch

from graphlens.checks.graph_calls import GraphCall, tangents_for


class _Kept(torch.fx.Interpreter):
    def __init__(self, gm: torch.fx.GraphModule, copies: bool) -> None:
        super().__init__(gm)
        self.copies = copies
        self.kept: dict[str, Any] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        value = super().run_node(n)
        if self.copies:
            self.kept[n.name] = _copied(value)
            return value
        for one in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(one, torch.Tensor) and one.requires_grad:
                one.retain_grad()
        self.kept[n.name] = value
        return value


def node_values(gm: torch.fx.GraphModule, call: GraphCall) -> dict[str, Any]:
    """Values as they are when each node has run, as leaves that need gradients where those do.

    Args:
        gm: The graph.
        call: To make.
    """
    interpreter = _Kept(gm, copies=True)
    with call.around.restored():
        interpreter.run(*call.fresh())
    return interpreter.kept


def node_gradients(gm: torch.fx.GraphModule, call: GraphCall) -> dict[str, Any]:
    """The gradient that comes to the value of each node in the backward pass; of tuples, tuples.

    Args:
        gm: The graph.
        call: To make, with its tangents.
    """
    interpreter = _Kept(gm, copies=False)
    with call.around.restored():
        made = interpreter.run(*call.fresh())
    outputs: Sequence[Any] = made if isinstance(made, (list, tuple)) else [made]
    started = tangents_for(outputs, call.tangents)
    if started:
        torch.autograd.backward([outputs[at] for at in started], list(started.values()))
    return {name: _gradients(value) for name, value in interpreter.kept.items()}


def _gradients(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(_gradients, value))
    if not isinstance(value, torch.Tensor) or value.grad is None:
        return None
    return value.grad.detach() if value.grad.shape == value.shape else None


def _copied(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)
