"""A diagram with runs of its boxes drawn as one box each."""

from collections.abc import Sequence

import msgspec

from graphlens.analysis.diagram_data import Box, Diagram, Edge
from graphlens.analysis.diagram_tree import ROOT


def merged(diagram: Diagram, runs: Sequence[tuple[range, Box]]) -> Diagram:
    """The diagram with each run of boxes as the one that is given for it.

    What stands together in a topological order can be one box, and no circle comes of it.

    Args:
        diagram: With all its edges.
        runs: Boxes that stand together, in order and apart, each with what stands for them; its
            ``cluster`` is one of the diagram's, around all of them.
    """
    starts = {inside.start: (inside, box) for inside, box in runs}
    boxes: list[Box] = []
    place: dict[int, int] = {}
    at = 0
    while at < len(diagram.boxes):
        inside, box = starts.get(at, (range(at, at + 1), diagram.boxes[at]))
        place |= dict.fromkeys(inside, len(boxes))
        boxes.append(box)
        at = inside.stop
    index = _kept_clusters(diagram, boxes)
    edges = {
        (place[edge.source], place[edge.target])
        for edge in diagram.edges
        if place[edge.source] != place[edge.target]
    }
    return msgspec.structs.replace(
        diagram,
        boxes=tuple(msgspec.structs.replace(box, cluster=index[box.cluster]) for box in boxes),
        edges=tuple(Edge(source=source, target=target) for source, target in sorted(edges)),
        clusters=tuple(
            msgspec.structs.replace(
                diagram.clusters[old], parent=index[diagram.clusters[old].parent]
            )
            for old in index
            if old != ROOT
        ),
        loops=tuple(
            msgspec.structs.replace(
                loop,
                cluster=index[loop.cluster],
                source=place[loop.source],
                target=place[loop.target],
            )
            for loop in diagram.loops
            if loop.cluster in index
        ),
    )


def _kept_clusters(diagram: Diagram, boxes: Sequence[Box]) -> dict[int, int]:
    """The new numbers of clusters that still have boxes."""
    kept: set[int] = set()
    for box in boxes:
        inner = box.cluster
        while inner != ROOT and inner not in kept:
            kept.add(inner)
            inner = diagram.clusters[inner].parent
    return {ROOT: ROOT} | {old: new for new, old in enumerate(sorted(kept))}
