"""Bodies of operators that run a graph of their own, put in their place."""

import operator
from typing import Any

import torch

# Operators that give what their body gives (torch 2.11 to 2.14).
_PLAIN = frozenset({"tag_activation_checkpoint", "wrap"})
_BODY = "graphlens_body"


def opened(gm: torch.fx.GraphModule, node: torch.fx.Node) -> torch.fx.GraphModule | None:
    """A graph with the operators of one operator's body in its place.

    Args:
        gm: The graph; stays as it is.
        node: Such as a checkpoint.

    Returns:
        None where the operator has no body, or does more than to run it.
    """
    body = _body(gm, node)
    if body is None:
        return None
    made = torch.fx.Graph()
    held: dict[str, Any] = {}
    copied: dict[torch.fx.Node, torch.fx.Node] = {}
    values: list[Any] = []
    for one in gm.graph.nodes:
        if one is node:
            given = [copied[a] if isinstance(a, torch.fx.Node) else a for a in node.args[1:]]
            values = _inline(body, given, made, held)
        elif one.target is operator.getitem and one.args[0] is node:
            copied[one] = values[one.args[1]]
        else:
            copied[one] = made.node_copy(one, lambda n: copied[n])
            if one.op in ("get_attr", "call_module"):
                held[str(one.target)] = _attribute(gm, str(one.target))
    result = torch.fx.GraphModule(held, made)
    result.meta = dict(gm.meta)
    return result


def body_name(node: torch.fx.Node) -> str | None:
    """The name that a node of an opened body has in the body; None for other nodes."""
    found: str | None = node.meta.get(_BODY)
    return found


def _body(gm: torch.fx.GraphModule, node: torch.fx.Node) -> torch.fx.GraphModule | None:
    name = getattr(node.target, "__name__", "")
    first = node.args[0] if node.args else None
    if name not in _PLAIN or not isinstance(first, torch.fx.Node) or first.op != "get_attr":
        return None
    if any(user.target is not operator.getitem for user in node.users):
        return None
    body = getattr(gm, str(first.target), None)
    if not isinstance(body, torch.fx.GraphModule):
        return None
    return body if isinstance(body.graph.output_node().args[0], (tuple, list)) else None


def _inline(
    body: torch.fx.GraphModule, given: list[Any], made: torch.fx.Graph, held: dict[str, Any]
) -> list[Any]:
    copied: dict[torch.fx.Node, Any] = {}
    inputs = iter(given)
    for one in body.graph.nodes:
        if one.op == "placeholder":
            copied[one] = next(inputs)
        elif one.op == "output":
            return [copied[v] if isinstance(v, torch.fx.Node) else v for v in one.args[0]]
        else:
            new = copied[one] = made.node_copy(one, lambda n: copied[n])
            new.meta = {**one.meta, _BODY: one.name}
            if one.op in ("get_attr", "call_module"):
                new.target = f"body_{len(held)}_{str(one.target).replace('.', '_')}"
                held[new.target] = _attribute(body, str(one.target))
    return []


def _attribute(gm: torch.fx.GraphModule, path: str) -> Any:
    value: Any = gm
    for part in path.split("."):
        value = getattr(value, part)
    return value
