"""How each module of a diagram looks as one box."""

from graphlens.analysis.collapsed import collapsed, deeper, depths
from graphlens.analysis.diagram_data import Box, Diagram
from graphlens.analysis.diagram_tree import spans


def closed_boxes(diagram: Diagram) -> list[Box]:
    """Of each cluster the box that stands for it when it is closed."""
    found: dict[int, Box] = {}
    inside, levels = spans(diagram), depths(diagram)
    for level in sorted(set(levels)):
        at = {inside[n].start: n for n, depth in enumerate(levels) if depth == level}
        place = 0
        for box in collapsed(diagram, deeper(diagram, level)).boxes:
            number = at.get(place)
            if number is None:
                place += 1
            else:
                found[number] = box
                place = inside[number].stop
    return [found[number] for number in range(len(diagram.clusters))]
