"""Beginnings of a graph: all up to one operator, with every value that is needed as output."""

import operator
from collections.abc import Sequence
from typing import Any

import torch

# What Dynamo puts into a graph to switch a mode for the operators between (torch 2.11 to 2.14).
_ENTERS = {"_enter_autocast": "_exit_autocast"}
_SWITCHES = ("_set_grad_enabled",)


def operators(gm: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """Nodes that give tensors, in order; not those that only switch a mode or read a size."""
    calls = ("call_function", "call_method", "call_module")
    return [node for node in gm.graph.nodes if node.op in calls and _tensors(_value(node))]


def prefix(gm: torch.fx.GraphModule, last: torch.fx.Node) -> torch.fx.GraphModule:
    """A graph that ends with an operator.

    Its inputs are those of the whole graph, in the same order. Its outputs are the values that the
    rest of the graph uses, and the operator's own. Modes that the rest would leave are left.

    Args:
        gm: The whole graph; stays as it is.
        last: One of its nodes.
    """
    made = torch.fx.Graph()
    copied: dict[torch.fx.Node, torch.fx.Node] = {}
    ended = False
    for node in gm.graph.nodes:
        if node.op == "placeholder" or not ended:
            copied[node] = made.node_copy(node, lambda one: copied[one])
        ended = ended or node is last
    inside = list(copied)
    outputs: list[torch.fx.Node] = []
    for node in inside:
        needed = node is last or any(user not in copied for user in node.users)
        if needed and node.op != "placeholder":
            outputs += _values(made, copied[node])
    _leave_modes(made, inside, copied)
    made.output(tuple(dict.fromkeys(outputs)))
    return torch.fx.GraphModule(gm, made)


def _values(graph: torch.fx.Graph, node: torch.fx.Node) -> list[torch.fx.Node]:
    """A node's tensors as nodes: itself, or one for each tensor of a tuple."""
    value = _value(node)
    if isinstance(value, torch.Tensor):
        return [node]
    if isinstance(value, (tuple, list)):
        found: list[torch.fx.Node] = []
        for index, one in enumerate(value):
            item = graph.call_function(operator.getitem, (node, index))
            item.meta["example_value"] = one
            found += _values(graph, item)
        return found
    return []


def _value(node: torch.fx.Node) -> Any:
    return node.meta.get("example_value", node.meta.get("val"))


def _tensors(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_tensors, value))
    return isinstance(value, torch.Tensor)


def _leave_modes(
    graph: torch.fx.Graph,
    inside: Sequence[torch.fx.Node],
    copied: dict[torch.fx.Node, torch.fx.Node],
) -> None:
    entered: list[torch.fx.Node] = []
    switched: Any = None
    for node in inside:
        name = getattr(node.target, "__name__", "")
        if name in _ENTERS:
            entered.append(node)
        elif name in _ENTERS.values() and node.args[0] in entered:
            entered.remove(node.args[0])  # type: ignore[arg-type]
        elif name in _SWITCHES:
            switched = node if switched is None else switched
    for node in reversed(entered):
        leave = next(one for one in node.users if one.target.__name__ in _ENTERS.values())  # type: ignore[union-attr]
        graph.call_function(leave.target, (copied[node],))  # type: ignore[arg-type]
    if switched is not None:
        graph.call_function(switched.target, (not switched.args[0],))
