"""A live GraphModule as data. Uses FX's public interface only."""

from functools import lru_cache
from typing import Any

import torch

from graphlens._torch.fx import qualified_name
from graphlens.analysis.placeholders import placeholder_role
from graphlens.analysis.places import is_torch, user_frame
from graphlens.analysis.stacks import parse_stack
from graphlens.capture.arguments import argument_text
from graphlens.capture.module_stack import module_calls
from graphlens.capture.values import value_of
from graphlens.model import Node, SourceLocation, Subgraph


def read_graph(gm: torch.fx.GraphModule) -> tuple[tuple[Node, ...], tuple[Subgraph, ...]]:
    """Reads all nodes of a graph, and the bodies of its higher-order operators.

    Reads metadata only: it computes nothing, and adds no guard on symbolic sizes.
    """
    nodes = tuple(read_node(node, gm) for node in gm.graph.nodes)
    return nodes, tuple(_bodies(gm, ""))


def read_node(node: torch.fx.Node, gm: torch.fx.GraphModule) -> Node:
    """One FX node."""
    if node.op == "placeholder":
        return _read_placeholder(node)
    tensors, value = value_of(node)
    source, called_from = node_source(node)
    return Node(
        name=node.name,
        op=node.op,
        target=node_target(node),
        args=tuple(argument_text(argument) for argument in node.args),
        kwargs=tuple((name, argument_text(value)) for name, value in node.kwargs.items()),
        inputs=tuple(used.name for used in node.all_input_nodes),
        tensors=tensors,
        value=value,
        role=_attribute_role(node, gm),
        source=source,
        called_from=called_from,
        modules=module_calls(node),
    )


def node_source(node: torch.fx.Node) -> tuple[SourceLocation | None, SourceLocation | None]:
    """The line that made a node, and the user's own line where the former is a library's."""
    return _source_of_stack(node.meta.get("stack_trace") or "")


@lru_cache(maxsize=4096)  # the nodes of one line share one text
def _source_of_stack(trace: str) -> tuple[SourceLocation | None, SourceLocation | None]:
    stack = parse_stack(trace)
    model_code = [frame for frame in stack if not is_torch(frame.file)] or list(stack)
    source = model_code[-1] if model_code else None
    own = user_frame(stack)
    return source, own if own != source else None


def node_target(node: torch.fx.Node) -> str:
    """What a node calls, as FX's own code would print it."""
    if node.op != "call_function":
        return str(node.target)
    return qualified_name(node.target)


def _read_placeholder(node: torch.fx.Node) -> Node:
    """A placeholder; its metadata names the place of its first use, which is not its own."""
    tensors, value = value_of(node)
    role, origin, owners = placeholder_role(str(node.target), "", value)
    if role == "input" and isinstance(node.meta.get("example_value"), torch.nn.Parameter):
        role = "parameter"
    return Node(
        name=node.name,
        op=node.op,
        target=str(node.target),
        tensors=tensors,
        value=value,
        role=role,
        origin=origin,
        modules=owners,
    )


def _attribute_role(node: torch.fx.Node, gm: torch.fx.GraphModule) -> str:
    if node.op != "get_attr":
        return ""
    value = attribute(gm, str(node.target))
    if isinstance(value, torch.nn.Parameter):
        return "parameter"
    if isinstance(value, torch.fx.GraphModule):
        return "subgraph"
    return "buffer" if isinstance(value, torch.Tensor) else "constant"


def _bodies(gm: torch.fx.GraphModule, prefix: str) -> list[Subgraph]:
    """Bodies of higher-order operators, each once however often it is called."""
    result = []
    targets = dict.fromkeys(str(node.target) for node in gm.graph.find_nodes(op="get_attr"))
    for target in targets:
        body = attribute(gm, target)
        if isinstance(body, torch.fx.GraphModule):
            name = prefix + target
            nodes = tuple(read_node(inner, body) for inner in body.graph.nodes)
            result.append(Subgraph(name=name, nodes=nodes))
            result.extend(_bodies(body, name + "."))
    return result


def attribute(gm: torch.fx.GraphModule, path: str) -> Any:
    """What a dotted attribute path leads to; None where it leads nowhere."""
    value: Any = gm
    for part in path.split("."):
        value = getattr(value, part, None)
    return value
