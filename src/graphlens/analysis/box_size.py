"""How large boxes are, from their texts: the layout makes room for what the renderer draws."""

from graphlens.analysis.diagram_data import Box, Cluster
from graphlens.analysis.text_width import text_width

LABEL_SIZE = 13
TEXT_SIZE = 11
LINE = 15
PADDING = 8
BADGE = 20
"""Width of the strip at a box's left edge that shows its family."""
HEADER = 26
"""Height of a cluster's headline."""
_COLUMN_GAP = 14
_NARROWEST = 84
_AIR_PERMILLE = 1050  # other fonts are a little wider


def box_size(box: Box) -> tuple[int, int]:
    """Width and height of a box in pixels; the width is even."""
    label = text_width(box.label, LABEL_SIZE, bold=True)
    last = text_width(box.value, TEXT_SIZE) + text_width(box.place, TEXT_SIZE)
    if box.value and box.place:
        last += _COLUMN_GAP
    texts = [text_width(box.caption, TEXT_SIZE)]
    texts += [text_width(row.text, TEXT_SIZE, bold=row.kind == "mark") for row in box.rows]
    inner = max(label, last, *texts)
    width = BADGE + 2 * PADDING + inner * _AIR_PERMILLE // 1000
    return max(_NARROWEST, width + width % 2), 2 * PADDING - 3 + LINE * lines_in(box)


def lines_in(box: Box) -> int:
    """How many lines of text a box has."""
    return 1 + bool(box.caption) + len(box.rows) + bool(box.value or box.place)


def header_width(cluster: Cluster) -> int:
    """Width that a cluster's headline needs."""
    return text_width(cluster.label, LABEL_SIZE - 1, bold=True) * _AIR_PERMILLE // 1000 + 20


def tag_width(name: str) -> int:
    """Width of a tag with a box's name; even."""
    width = text_width(name, TEXT_SIZE) * _AIR_PERMILLE // 1000 + 26
    return width + width % 2
