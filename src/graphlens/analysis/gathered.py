"""Inputs of a folded diagram that are alike and go to the same box, drawn as one."""

import msgspec

from graphlens.analysis.diagram_data import Box, Diagram, Edge
from graphlens.analysis.families import INPUT


def gathered(diagram: Diagram) -> Diagram:
    """Joins, for example, the cached keys of all layers, which feed the one layer that is drawn."""
    users: dict[int, list[int]] = {}
    for edge in diagram.edges:
        users.setdefault(edge.source, []).append(edge.target)
    repeated = {
        number
        for number, box in enumerate(diagram.boxes)
        if box.cluster >= 0 and _repeats(diagram, box.cluster)
    }
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, box in enumerate(diagram.boxes):
        targets = tuple(users.get(number, ()))
        if box.family == INPUT and targets and set(targets) <= repeated:
            groups.setdefault((box.label, box.value, targets), []).append(number)
    stands = {one: group[0] for group in groups.values() for one in group[1:]}
    if not stands:
        return diagram
    kept = [number for number in range(len(diagram.boxes)) if number not in stands]
    place = {number: index for index, number in enumerate(kept)}
    boxes = [diagram.boxes[number] for number in kept]
    for group in groups.values():
        if len(group) > 1:
            boxes[place[group[0]]] = _joined([diagram.boxes[number] for number in group])
    return msgspec.structs.replace(
        diagram,
        boxes=tuple(boxes),
        edges=tuple(
            Edge(source=place[edge.source], target=place[edge.target])
            for edge in diagram.edges
            if edge.source not in stands
        ),
        loops=tuple(
            msgspec.structs.replace(loop, source=place[loop.source], target=place[loop.target])
            for loop in diagram.loops
        ),
    )


def _repeats(diagram: Diagram, cluster: int) -> bool:
    while cluster >= 0:
        if diagram.clusters[cluster].repeats > 1:
            return True
        cluster = diagram.clusters[cluster].parent
    return False


def _joined(boxes: list[Box]) -> Box:
    first, last = boxes[0], boxes[-1]
    return msgspec.structs.replace(
        first,
        label=f"{first.label} ×{len(boxes)}",
        caption=f"{first.caption} … {last.caption}",
        nodes=tuple(name for box in boxes for name in box.nodes),
        details=tuple(box.details[0] for box in boxes if box.details),
        count=sum(box.count for box in boxes),
    )
