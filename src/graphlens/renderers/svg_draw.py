"""The parts of an SVG picture: boxes, clusters, lines and the legend, as lines of XML."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from graphlens.analysis.box_size import BADGE, HEADER, LINE, PADDING, header_width
from graphlens.analysis.diagram_data import Box, Cluster, Diagram
from graphlens.analysis.layout_data import Layout, Point, Rect, Route, Tag
from graphlens.analysis.text_width import shorten_middle, text_width, visible
from graphlens.renderers.svg_style import BADGES, MARKS

_ROUND = 7
_ARROW = 6
_LEGEND_LINE = 22
_TAG_NAME = 40


_ROW_CLASSES = {"state": "q", "mark": "hb"}


def text_element(x: int, y: int, text: str, kind: str = "") -> str:
    """One line of text; ``kind`` is its class."""
    described = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{described}>{xml_text(text)}</text>'


def xml_text(text: str) -> str:
    """Text that is valid between tags whatever is in it."""
    return escape(visible(text))


def draw(diagram: Diagram, layout: Layout) -> Iterable[str]:
    """Everything of one diagram, in the order it is painted."""
    depths = _depths(diagram.clusters)
    for cluster, rect, depth in zip(diagram.clusters, layout.clusters, depths, strict=True):
        yield _frame(cluster, rect, depth)
    yield from _lines(diagram, layout.routes)
    for cluster, rect, depth in zip(diagram.clusters, layout.clusters, depths, strict=True):
        yield _headline(cluster, rect, depth)
    for tag in layout.tags:
        yield _tag(diagram.boxes[tag.source].name, tag)
    for box, rect in zip(diagram.boxes, layout.boxes, strict=True):
        yield _box(box, rect)


def legend(families: Iterable[str], width: int) -> tuple[list[str], int]:
    """A legend of the families in the picture, broken at a width; and its height."""
    lines: list[str] = []
    x = y = 0
    for family, (kind, sign, meaning) in BADGES.items():
        if family not in families:
            continue
        needed = BADGE + 24 + text_width(meaning, 12)
        if x and x + needed > width:
            x, y = 0, y + _LEGEND_LINE
        lines.append(
            f'<g class="b {kind}" transform="translate({x},{y})"><rect class="s" width="{BADGE}" '
            f'height="16" rx="3"/>{text_element(BADGE // 2, 12, sign, "k")}'
            f"{text_element(BADGE + 6, 12, meaning)}</g>"
        )
        x += needed
    return lines, y + _LEGEND_LINE if lines else 0


def heat_legend(name: str, most: str) -> tuple[list[str], int]:
    """A legend of what boxes are coloured by, from least to most; and its height."""
    lines = [text_element(0, 12, name)]
    x = text_width(name, 12) + 10
    for level in range(1, 6):
        lines.append(f'<g class="b h{level}"><rect x="{x}" width="{BADGE + 4}" height="16"/></g>')
        x += BADGE + 4
    lines.append(text_element(x + 6, 12, most))
    return lines, _LEGEND_LINE


def mark_legend() -> tuple[list[str], int]:
    """A legend of what became of boxes; and its height."""
    lines: list[str] = []
    x = 0
    for kind, sign, meaning in MARKS.values():
        lines.append(
            f'<g class="b {kind}" transform="translate({x},0)"><rect class="s" width="{BADGE}" '
            f'height="16" rx="3"/>{text_element(BADGE // 2, 12, sign, "k")}'
            f"{text_element(BADGE + 6, 12, meaning)}</g>"
        )
        x += BADGE + 24 + text_width(meaning, 12)
    return lines, _LEGEND_LINE


def _depths(clusters: Sequence[Cluster]) -> list[int]:
    depths: list[int] = []
    for cluster in clusters:
        depths.append(depths[cluster.parent] + 1 if cluster.parent >= 0 else 0)
    return depths


def _frame(cluster: Cluster, rect: Rect, depth: int) -> str:
    title = f"{cluster.path} {cluster.type}".strip()
    if cluster.repeats > 1:
        title += f"\n{cluster.repeats} equal ones: {cluster.label}"
    if cluster.note:
        title += f"\ndiffers from those like it: {cluster.note}"
    return (
        f'<rect class="c c{depth % 2}" x="{rect.x}" y="{rect.y}" width="{rect.width}" '
        f'height="{rect.height}" rx="6"><title>{xml_text(title)}</title></rect>'
    )


def _headline(cluster: Cluster, rect: Rect, depth: int) -> str:
    # On its own ground, or lines that enter the module would strike the words through.
    return (
        f'<rect class="c{depth % 2}" x="{rect.x + 8}" y="{rect.y + 4}" '
        f'width="{header_width(cluster) - 16}" height="{HEADER - 8}"/>'
        + text_element(rect.x + 10, rect.y + 18, cluster.label, "h")
    )


def _box(box: Box, rect: Rect) -> str:
    kind, sign, _ = BADGES[box.family]
    shown = kind if box.heat is None else f"h{box.heat}"
    if box.mark:
        shown, sign, _ = MARKS[box.mark]
    corner = 12 if kind in "iu" else 4
    left, y = BADGE + PADDING, PADDING + 9
    texts = [text_element(BADGE // 2, rect.height // 2 + 5, sign, "k"),
             text_element(left, y, box.label, "l")]  # fmt: skip
    if box.caption:
        y += LINE
        texts.append(text_element(left, y, box.caption))
    for row in box.rows:
        y += LINE
        texts.append(text_element(left, y, row.text, _ROW_CLASSES.get(row.kind, "f")))
    y += LINE
    if box.value:
        texts.append(text_element(left, y, box.value))
    if box.place:
        texts.append(text_element(rect.width - PADDING, y, box.place, "q p"))
    title = "\n".join(xml_text(line) for line in box.details)
    return (
        f'<g class="b {shown}" transform="translate({rect.x},{rect.y})"><title>{title}</title>'
        f'<rect width="{rect.width}" height="{rect.height}" rx="{corner}"/>'
        f'<path class="s" d="{_strip(rect.height, corner)}"/>{"".join(texts)}</g>'
    )


def _strip(height: int, corner: int) -> str:
    side = height - 2 * corner
    # A quadratic curve is no circle, and shorter by half; pictures have a hundred of these.
    return f"M{BADGE} 0H{corner}Q0 0 0 {corner}v{side}q0 {corner} {corner} {corner}H{BADGE}z"


def _tag(name: str, tag: Tag) -> str:
    rect, name = tag.rect, shorten_middle(name, _TAG_NAME)
    text = f"from {name}" if tag.incoming else f"to {name}"
    return (
        f'<rect class="x" x="{rect.x}" y="{rect.y}" width="{rect.width}" height="{rect.height}" '
        f'rx="8"/>' + text_element(rect.x + 8, rect.y + 12, text, "f")
    )


def _lines(diagram: Diagram, routes: Iterable[Route]) -> Iterable[str]:
    """One path for each value, and one for all arrow heads."""
    ways: dict[int, list[str]] = {}
    heads: list[str] = []
    for route in routes:
        points = list(route.points)
        if route.again:
            yield f'<path class="e ag" d="{_turns(points)}"><title>to the next one</title></path>'
            continue
        if route.arrow:
            x, y = points[-1]
            heads.append(f"M{x} {y}l-4-{_ARROW}h8z")
            points[-1] = (x, y - _ARROW + 1)
        way = _turns(points) if route.wraps else _curve(points)
        ways.setdefault(route.source, []).append(way)
    for source, pieces in sorted(ways.items()):
        name = xml_text(diagram.boxes[source].name)
        yield f'<path class="e" d="{"".join(pieces)}"><title>{name}</title></path>'
    if heads:
        yield f'<path class="a" d="{"".join(heads)}"/>'


def _curve(points: Sequence[Point]) -> str:
    """Straight down, and from one x to another in an S."""
    way = f"M{points[0][0]} {points[0][1]}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) // 2
        way += f"V{to_y}" if x == to_x else f"C{x} {middle} {to_x} {middle} {to_x} {to_y}"
    return way


def _turns(points: Sequence[Point]) -> str:
    """Right-angled, with rounded corners."""
    way = f"M{points[0][0]} {points[0][1]}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, end = _towards(corner, before), _towards(corner, after)
        way += f"L{start[0]} {start[1]}Q{corner[0]} {corner[1]} {end[0]} {end[1]}"
    return f"{way}L{points[-1][0]} {points[-1][1]}"


def _towards(corner: Point, other: Point) -> Point:
    """A point a little from the corner on the way to another one, at most half way."""
    steps = [max(-_ROUND, min(_ROUND, (o - c) // 2)) for c, o in zip(corner, other, strict=True)]
    return corner[0] + steps[0], corner[1] + steps[1]
