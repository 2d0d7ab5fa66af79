"""What Inductor's passes put in place of nodes, from the graph before them and the one after.

Nodes that stay keep their names. Where one of them has another argument than before, that one took
the old one's place; what fed only replaced nodes, and from the same values, went into the new one.
Torch tells some of it too, with the pass, but neither all of it nor on a warm cache.
"""

from collections.abc import Mapping, Sequence

from graphlens.model import Node

# By node, what took its place, and the pass that did it; the pass is empty when not known.
Replaced = Mapping[str, Sequence[tuple[str, str]]]


def replaced_nodes(nodes: Sequence[Node], lowered: Mapping[str, Node], told: Replaced) -> Replaced:
    """What took the place of each node that is gone.

    Args:
        nodes: Of the graph before the passes.
        lowered: Of the graph after them, by name; empty when not known.
        told: What torch told of it.
    """
    if not lowered:
        return told
    found = {old: [pair for pair in new if pair[0] in lowered] for old, new in told.items()}
    found = {old: new for old, new in found.items() if new and old not in lowered}
    for node in nodes:
        after = lowered.get(node.name)
        if after is not None and len(after.inputs) == len(node.inputs):
            for old, new in zip(node.inputs, after.inputs, strict=True):
                if old != new and old not in lowered:
                    found.setdefault(old, [(new, "")])
    _add_inner(nodes, lowered, found)
    return found


def _add_inner(
    nodes: Sequence[Node], lowered: Mapping[str, Node], found: dict[str, list[tuple[str, str]]]
) -> None:
    """Adds what went into a new node together with the one whose place it took."""
    users: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.inputs:
            users.setdefault(name, []).append(node.name)
    for node in reversed(nodes):
        using = users.get(node.name, [])
        if node.name in lowered or node.name in found or not using:
            continue
        kept = {name for name in node.inputs if name in lowered}
        news = [pair for user in using for pair in found.get(user, ())]
        if all(user in found for user in using) and all(
            kept and kept <= set(lowered[new].inputs) for new, _ in news
        ):
            found[node.name] = list(dict.fromkeys(news))
