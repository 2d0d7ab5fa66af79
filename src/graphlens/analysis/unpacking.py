"""What a graph's text leaves to its later lines: values of several tensors, and bodies."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec

from graphlens.model import Node, TensorSpec


def completed(nodes: Iterable[Node], bodies: Collection[str]) -> tuple[Node, ...]:
    """Nodes with what other nodes tell of them.

    An operator that returns several tensors is printed without them; those that are used are
    printed where they are taken out (``getitem``). An attribute that names the body of a
    higher-order operator is a subgraph.

    Args:
        nodes: Of one graph or body, as read.
        bodies: Names of the bodies that the text holds.
    """
    found = list(nodes)
    items: dict[str, dict[int, tuple[TensorSpec, ...]]] = defaultdict(dict)
    for node in found:
        if node.target == "operator.getitem" and re.fullmatch(r"\d+", node.args[1]):
            items[node.args[0]][int(node.args[1])] = node.tensors
    return tuple(_completed(node, items, bodies) for node in found)


def _completed(
    node: Node, items: dict[str, dict[int, tuple[TensorSpec, ...]]], bodies: Collection[str]
) -> Node:
    if node.op == "get_attr" and node.target in bodies:
        return msgspec.structs.replace(node, role="subgraph")
    if node.is_operator and not node.tensors and node.name in items:
        taken = items[node.name]
        tensors = tuple(spec for index in sorted(taken) for spec in taken[index])
        return msgspec.structs.replace(node, tensors=tensors)
    return node
