"""Two compared graphs as diagrams: each box says what became of it, and equal parts are short."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import msgspec

from graphlens.analysis.diagram import whole_diagram
from graphlens.analysis.diagram_data import Box, Diagram, Row
from graphlens.analysis.diagram_names import HUB_USERS, limited, with_names
from graphlens.analysis.diagram_tree import ROOT, Member, members, spans
from graphlens.analysis.families import MODULE
from graphlens.analysis.merged import merged
from graphlens.analysis.operators import operator_label
from graphlens.analysis.text_width import shorten_middle
from graphlens.model import Change, Graph, GraphDiff, Node, PartDiff, Subgraph

SAME, ADDED, REMOVED, CHANGED = "same", "added", "removed", "changed"
_ORDER = (SAME, CHANGED, ADDED, REMOVED)
_LONGEST = 60
_FEWEST = 3  # fewer equal boxes are drawn as they are


@dataclass(frozen=True)
class Fate:
    """What became of a node.

    Attributes:
        mark: One of SAME, ADDED, REMOVED and CHANGED.
        changes: In what it differs.
        told: What is said besides, such as what it is replaced by.
    """

    mark: str
    changes: tuple[Change, ...] = ()
    told: str = ""


def diff_diagrams(
    diff: GraphDiff, context: int | None = 3
) -> list[tuple[Diagram | None, Diagram | None]]:
    """The two pictures of the graphs, then of each pair of bodies; None where one has none.

    Args:
        diff: What was found.
        context: How many steps around a difference are drawn; what is farther is one box for each
            run of boxes. None for all.
    """
    pairs = []
    for part in diff.parts:
        before, after = _bodies(diff, part)
        fates = _fates(part)
        whole = not (part.body_before or part.body_after)
        marked = [
            _marked_diagram(graph, body, fate) if body is not None or whole else None
            for graph, body, fate in zip((diff.before, diff.after), (before, after), fates,
                                         strict=True)
        ]  # fmt: skip
        pairs.append(_shortened(part, marked[0], marked[1], context))
    return pairs


def _shortened(
    part: PartDiff, before: Diagram | None, after: Diagram | None, context: int | None
) -> tuple[Diagram | None, Diagram | None]:
    """Both with far boxes merged: what is near a difference in one is drawn in the other, too."""
    sides = (before, after)
    if context is None:
        shown = [with_names(side) if side else None for side in sides]
        return shown[0], shown[1]
    near = [_near(side, context) if side else set() for side in sides]
    to_after = {pair.before.name: pair.after.name for pair in (*part.same, *part.changed)}
    to_before = {after: before for before, after in to_after.items()}
    both = (
        near[0] | {to_before[name] for name in near[1] if name in to_before},
        near[1] | {to_after[name] for name in near[0] if name in to_after},
    )
    shown = [
        with_names(merged(side, list(_far_runs(side, names)))) if side else None
        for side, names in zip(sides, both, strict=True)
    ]
    return shown[0], shown[1]


def _bodies(diff: GraphDiff, part: PartDiff) -> tuple[Subgraph | None, Subgraph | None]:
    before = {body.name: body for body in diff.before.subgraphs}
    after = {body.name: body for body in diff.after.subgraphs}
    return before.get(part.body_before), after.get(part.body_after)


def _fates(part: PartDiff) -> tuple[dict[str, Fate], dict[str, Fate]]:
    """Of each node of the first and of the second graph."""
    before: dict[str, Fate] = {}
    after: dict[str, Fate] = {}
    for pair in (*part.same, *part.changed):
        fate = Fate(CHANGED if pair.changes else SAME, pair.changes)
        before[pair.before.name] = after[pair.after.name] = fate
    for one in part.replaced:
        by, of = _labels(one.after), _labels(one.before)
        before |= {node.name: Fate(CHANGED, told=f"→ {by}") for node in one.before}
        after |= {node.name: Fate(CHANGED, told=f"for {of}") for node in one.after}
    before |= {node.name: Fate(REMOVED) for node in part.removed}
    after |= {node.name: Fate(ADDED) for node in part.added}
    return before, after


def _labels(nodes: Sequence[Node]) -> str:
    return ", ".join(dict.fromkeys(operator_label(node) for node in nodes))


def _marked_diagram(graph: Graph, body: Subgraph | None, fates: Mapping[str, Fate]) -> Diagram:
    diagram = whole_diagram(graph, body)
    boxes = tuple(_marked(box, fates) for box in diagram.boxes)
    return msgspec.structs.replace(diagram, boxes=boxes)


def _marked(box: Box, fates: Mapping[str, Fate]) -> Box:
    found = [fates[name] for name in box.nodes if name in fates]
    worst = max(found, key=lambda fate: _ORDER.index(fate.mark), default=Fate(SAME))
    own = fates.get(box.name, worst)
    # A box whose own operator stays is changed by a parameter that comes or goes.
    mark = own.mark if own.mark != SAME or worst.mark == SAME else CHANGED
    texts = [f"{one.what}: {one.before} → {one.after}" for fate in found for one in fate.changes]
    if own.told:
        texts.append(own.told)
    told = [Row(kind="mark", text=shorten_middle(text, _LONGEST)) for text in dict.fromkeys(texts)]
    return msgspec.structs.replace(box, rows=(*box.rows, *limited(told)), mark=mark)


def _far_runs(diagram: Diagram, names: Set[str]) -> Iterator[tuple[range, Box]]:
    """Runs of boxes, in one cluster each, none of whose nodes are among these."""
    near = [not names.isdisjoint(box.nodes) for box in diagram.boxes]
    inside = spans(diagram)
    contents = members(diagram)

    def boxes(member: Member) -> range:
        is_box, number = member
        return range(number, number + 1) if is_box else inside[number]

    found: list[tuple[range, Box]] = []
    for container, parts in contents.items():
        run: list[range] = []
        for member in [*parts, None]:
            part = boxes(member) if member is not None else range(0)
            # A cluster that is far as a whole is part of the run around it.
            if member is not None and not any(near[box] for box in part):
                run.append(part)
                continue
            whole = range(run[0].start, run[-1].stop) if run else range(0)
            hidden = container != ROOT and not any(near[box] for box in inside[container])
            if len(whole) >= _FEWEST and not hidden:
                found.append((whole, _quiet(diagram, whole, container)))
            run = []
    yield from sorted(found, key=lambda one: one[0].start)


def _near(diagram: Diagram, context: int) -> set[str]:
    """Nodes of boxes that are at most so many steps from a difference.

    No step leads on from a value that many use: it would make all of them near.
    """
    beside: list[list[int]] = [[] for _ in diagram.boxes]
    users = [0] * len(diagram.boxes)
    for edge in diagram.edges:
        users[edge.source] += 1
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    front = [number for number, box in enumerate(diagram.boxes) if box.mark != SAME]
    near = set(front)
    for _ in range(context):
        walked = [number for number in front if users[number] < HUB_USERS]
        front = [other for number in walked for other in beside[number] if other not in near]
        near |= set(front)
    return {name for number in near for name in diagram.boxes[number].nodes}


def _quiet(diagram: Diagram, run: range, cluster: int) -> Box:
    boxes = [diagram.boxes[number] for number in run]
    operators = sum(box.operators for box in boxes)
    return Box(
        name=boxes[-1].name,
        family=MODULE,
        label=f"{operators:,} operators, the same",
        caption=f"{boxes[0].name} … {boxes[-1].name}",
        value=boxes[-1].value,
        nodes=tuple(name for box in boxes for name in box.nodes),
        operators=operators,
        cluster=cluster,
        mark=SAME,
    )
