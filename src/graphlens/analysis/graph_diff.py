"""Two graphs compared: what of one is in the other, and what was added, removed or changed."""

from collections.abc import Iterable, Mapping, Sequence

from graphlens.analysis.diff_changes import Comparer, replacements
from graphlens.analysis.diff_matching import Matching, matched
from graphlens.analysis.diff_nodes import two_sides
from graphlens.model import Graph, GraphDiff, Node, NodePair, PartDiff, Replacement, Subgraph

_Bodies = Mapping[str, str]


def graph_diff(before: Graph, after: Graph) -> GraphDiff:
    """Compares two graphs by structure.

    A node is known by its operator, arguments, value, module and line, and by what its inputs
    and users are; its name plays no part. Strides, devices and line numbers are no differences.
    Where one graph is captured and the other lowered, or both are lowered at different stages,
    what has no partner is paired by module and line: one ``linear`` is replaced by ``t`` and
    ``addmm``.

    Args:
        before: The first graph.
        after: The second.
    """
    bodies = _pairs_of_bodies(before, after)
    contents = _contents(before.subgraphs), _contents(after.subgraphs)
    stages = before.stage != after.stage
    parts = [_part(before.nodes, after.nodes, contents, stages)]
    for one, other in bodies:
        part = _part(
            one.nodes if one else (), other.nodes if other else (), contents, stages,
            one.name if one else "", other.name if other else "",
        )  # fmt: skip
        parts.append(part)
    return GraphDiff(before=before, after=after, parts=tuple(parts))


def _part(
    before: Sequence[Node],
    after: Sequence[Node],
    bodies: tuple[_Bodies, _Bodies],
    stages: bool,
    body_before: str = "",
    body_after: str = "",
) -> PartDiff:
    one, other, levels = two_sides(before, after, *bodies)
    matching = matched(one, other, operators_may_differ=not (levels or stages))
    groups = replacements(matching) if levels or stages else []
    comparer = Comparer(matching, groups, levels)
    pairs = [
        NodePair(before=before[partner], after=after[node], changes=comparer.changes(partner, node))
        for node, partner in enumerate(matching.to_before)
        if partner >= 0
    ]
    return PartDiff(
        body_before=body_before,
        body_after=body_after,
        same=tuple(pair for pair in pairs if not pair.changes),
        changed=tuple(pair for pair in pairs if pair.changes),
        replaced=tuple(
            Replacement(
                before=tuple(before[node] for node in ones),
                after=tuple(after[node] for node in others),
            )
            for ones, others in sorted(groups, key=lambda group: group[1])
        ),
        **_alone(matching, before, after, groups),
    )


def _alone(
    matching: Matching,
    before: Sequence[Node],
    after: Sequence[Node],
    groups: Sequence[tuple[list[int], list[int]]],
) -> dict[str, tuple[Node, ...]]:
    own = {node for ones, _ in groups for node in ones}
    new = {node for _, others in groups for node in others}
    left = matching.left()
    return {
        "removed": tuple(before[node] for node in left[0] if node not in own),
        "added": tuple(after[node] for node in left[1] if node not in new),
    }


def _contents(bodies: Iterable[Subgraph]) -> dict[str, str]:
    """Something that is the same for bodies of the same operators, by their names."""
    return {
        body.name: " ".join(f"{node.op} {node.target}" for node in body.nodes if node.is_operator)
        for body in bodies
    }


def _pairs_of_bodies(before: Graph, after: Graph) -> list[tuple[Subgraph | None, Subgraph | None]]:
    """Bodies with the same operators in them, then those of one name, then those left, in order.

    Order is the last resort and not a bad one: a name holds a number that any new body shifts.
    """
    own, new = list(before.subgraphs), list(after.subgraphs)
    contents = _contents(own), _contents(new)
    pairs: list[tuple[Subgraph | None, Subgraph | None]] = []
    for key in (
        lambda body, side: (body.name, contents[side][body.name]),
        lambda body, side: contents[side][body.name],
        lambda body, _: body.name,
        lambda *_: "",
    ):
        waiting: dict[object, list[Subgraph]] = {}
        for body in reversed(new):
            waiting.setdefault(key(body, 1), []).append(body)
        for body in list(own):
            others = waiting.get(key(body, 0))
            if others:
                other = others.pop()
                pairs.append((body, other))
                own.remove(body)
                new.remove(other)
    place = {id(body): number for number, body in enumerate(after.subgraphs)}
    pairs.sort(key=lambda pair: place[id(pair[1])])
    return [*pairs, *((body, None) for body in own), *((None, body) for body in new)]
