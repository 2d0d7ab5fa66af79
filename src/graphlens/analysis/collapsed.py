"""A diagram with modules drawn as one box each."""

from collections import Counter
from collections.abc import Sequence, Set

from graphlens.analysis.diagram_data import Box, Cluster, Diagram, Row
from graphlens.analysis.diagram_names import limited
from graphlens.analysis.diagram_tree import ROOT, spans
from graphlens.analysis.families import (
    MATRIX,
    MODULE,
    NORMALISATION,
    OTHER,
    POINTWISE,
    REDUCTION,
    VIEW,
)
from graphlens.analysis.merged import merged

_TELLING = (MATRIX, NORMALISATION, REDUCTION, POINTWISE, OTHER, VIEW)
"""What a module of ``torch.nn`` is for is the first of these that it has."""
_MOST_LABELS = 4


def depths(diagram: Diagram) -> list[int]:
    """How deep each cluster is in others: 1 at the root."""
    found: list[int] = []
    for cluster in diagram.clusters:
        found.append(found[cluster.parent] + 1 if cluster.parent != ROOT else 1)
    return found


def leaves(diagram: Diagram) -> frozenset[int]:
    """Clusters in which no other module is called."""
    return frozenset(n for n, cluster in enumerate(diagram.clusters) if cluster.leaf)


def unlike_others(diagram: Diagram) -> frozenset[int]:
    """Clusters beside folded ones that are almost like them; they say how they differ."""
    return frozenset(n for n, cluster in enumerate(diagram.clusters) if cluster.note)


def deeper(diagram: Diagram, depth: int) -> frozenset[int]:
    """Clusters at a depth, which then hide all that is deeper."""
    return frozenset(n for n, found in enumerate(depths(diagram)) if found == depth)


def collapsed(diagram: Diagram, closed: Set[int]) -> Diagram:
    """The diagram with each of these clusters as one box.

    Args:
        diagram: With all its edges.
        closed: Clusters; one in another makes no difference.
    """
    inside = spans(diagram)
    outermost = [number for number in sorted(closed) if not _around(diagram, number, closed)]
    outermost.sort(key=lambda number: inside[number].start)
    return merged(
        diagram,
        [(inside[number], _module_box(diagram, number, inside[number])) for number in outermost],
    )


def _around(diagram: Diagram, number: int, closed: Set[int]) -> bool:
    outer = diagram.clusters[number].parent
    while outer != ROOT and outer not in closed:
        outer = diagram.clusters[outer].parent
    return outer != ROOT


def _module_box(diagram: Diagram, number: int, inside: range) -> Box:
    cluster = diagram.clusters[number]
    boxes = [diagram.boxes[box] for box in inside]
    loops = [loop for loop in diagram.loops if loop.cluster == number]
    name, _, kind = cluster.label.partition(" · ")
    operators = sum(box.operators for box in boxes)
    rows = [row for box in boxes for row in box.rows] if cluster.leaf else _counts(boxes)
    if cluster.note:
        rows.append(Row(kind="to", text=f"differs: {cluster.note}"))
    if loops:
        rows.append(Row(kind="from", text="each takes the result of the one before"))
    return Box(
        name=boxes[-1].name,
        family=_family(boxes) if cluster.leaf else MODULE,
        label=kind or cluster.label,
        caption=name if kind else "",
        value=_result(diagram, inside),
        place=boxes[0].place if cluster.leaf else "",
        rows=limited(rows),
        nodes=tuple(node for box in boxes for node in box.nodes),
        details=_details(cluster, boxes, operators),
        cluster=cluster.parent,
        path=cluster.path,
        operators=operators,
        parameters=sum(box.parameters for box in boxes),
        count=cluster.repeats,
    )


def _family(boxes: Sequence[Box]) -> str:
    found = {box.family for box in boxes}
    return next((family for family in _TELLING if family in found), OTHER)


def _counts(boxes: Sequence[Box]) -> list[Row]:
    operators = sum(box.operators for box in boxes)
    parameters = sum(box.parameters for box in boxes)
    texts = [f"{operators:,} operators"]
    if parameters:
        texts.append(f"{short_number(parameters)} parameters")
    return [Row(kind="state", text=", ".join(texts))]


def short_number(number: int) -> str:
    """``7.09 M``; three digits that count."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return str(number)


def _result(diagram: Diagram, inside: range) -> str:
    """The last value that leaves the module."""
    leaving = [edge.source for edge in diagram.edges if edge.source in inside
               and edge.target not in inside]  # fmt: skip
    return diagram.boxes[max(leaving, default=inside[-1])].value


def _details(cluster: Cluster, boxes: Sequence[Box], operators: int) -> tuple[str, ...]:
    labels = Counter(box.label for box in boxes for _ in range(max(1, box.operators)))
    most = [f"{count} {label}" for label, count in labels.most_common(_MOST_LABELS)]
    more = f" and {len(labels) - _MOST_LABELS} other kinds" if len(labels) > _MOST_LABELS else ""
    return (
        f"{cluster.path} {cluster.type}".strip(),
        f"{operators:,} operators: {', '.join(most)}{more}",
        *((f"differs from those like it: {cluster.note}",) if cluster.note else ()),
    )
