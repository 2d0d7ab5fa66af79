"""The whole program as one picture: functions, graphs, breaks, recompiles, forward and backward.

Static, self-contained, the same bytes on every machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from graphlens.analysis.layout_data import Point, Rect
from graphlens.analysis.program_map import MOST_FUNCTIONS, program_map
from graphlens.analysis.program_map_data import ProgramMap
from graphlens.analysis.program_map_layout import MapLayout, layout_map
from graphlens.analysis.program_map_panel import STRIP, Placed, PlacedBox, Text
from graphlens.analysis.text_fit import width_of, wrapped_to
from graphlens.errors import UsageError
from graphlens.model import Environment, Graph, Report, Unavailable
from graphlens.renderers.map_boxes import BACKWARD, BREAK, EAGER, FAILED, GRAPH, NOTHING, panels
from graphlens.renderers.map_style import map_style
from graphlens.renderers.map_words import map_facts
from graphlens.renderers.svg_draw import text_element, xml_text
from graphlens.renderers.svg_style import THEMES, style

_MARGIN, _TITLE, _FACT, _KEY = 20, 28, 16, 22
_HEAD = 6
_LEGEND = (
    (GRAPH, "compiled graph"),
    (BACKWARD, "its backward"),
    (BREAK, "graph break"),
    (EAGER, "runs eager"),
    (FAILED, "failed"),
    (NOTHING, "no graph"),
)
ALONE = Environment(graphlens="", torch="", python="")


@dataclass(frozen=True, kw_only=True)
class MapRenderer:
    """Draws the map of a program; no other program or library is needed.

    Attributes:
        theme: ``light``, ``dark``, or ``auto`` for what the reader's system prefers.
        legend: Whether the picture explains its colours and signs.
        functions: Most functions drawn; the others are named below.
        root: Files below this folder are named relative to it.
        links: Where a click on a graph leads, by the graph's id; for a picture that is in a page.
    """

    theme: str = "auto"
    legend: bool = True
    functions: int = MOST_FUNCTIONS
    root: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise UsageError(f"theme={self.theme!r}: give one of {', '.join(THEMES)}.")

    def report(self, report: Report) -> str:
        """The whole program."""
        of = program_map(report, self.functions)
        placed = layout_map(panels(of, self.root))
        width = placed.width
        body = [text_element(0, 16, "Map of the program", "t")]
        y = _TITLE
        for fact in map_facts(of, report):
            for line in wrapped_to(fact, width):
                body.append(text_element(0, y + 12, line, "q"))
                y += _FACT
        y += 8
        if self.legend:
            lines, height = _legend(placed, width, y)
            body += lines
            y += height
        body += [f'<g transform="translate(0,{y})">', *_map(placed, self.links), "</g>"]
        return "\n".join([*_head(of, placed, y, self.theme), *body, "</g>", "</svg>"]) + "\n"

    def graph(self, graph: Graph) -> str:
        """One graph, as the only one of a program."""
        return self.report(alone(graph))


def alone(graph: Graph) -> Report:
    """A report of which only a graph is known."""
    unknown = Unavailable("this is one graph of a program")
    return Report(environment=ALONE, graphs=(graph,), breaks=unknown, recompiles=unknown)


def _head(of: ProgramMap, placed: MapLayout, y: int, theme: str) -> Iterator[str]:
    width, height = placed.width + 2 * _MARGIN, placed.height + y + 2 * _MARGIN
    boxes = sum(len(one.boxes) for one in placed.panels)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gl" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">'
    )
    yield "<title>Map of the program</title>"
    yield (
        f"<desc>{len(of.functions)} functions as frames, in the order torch met them, with "
        f"{boxes} boxes: graphs and the breaks between them, from top to bottom; "
        f"{len(of.others)} more are only named.</desc>"
    )
    yield f"<style>\n{style(theme)}{map_style(theme)}</style>"
    yield f'<rect class="g" width="{width}" height="{height}"/>'
    yield f'<g transform="translate({_MARGIN},{_MARGIN})">'


def _legend(placed: MapLayout, width: int, y: int) -> tuple[list[str], int]:
    """The kinds of boxes that are there, broken at a width; and its height."""
    kinds = {one.box.kind for panel in placed.panels for one in panel.boxes}
    lines: list[str] = []
    x, top = 0, y
    for (kind, sign), meaning in _LEGEND:
        if kind not in kinds:
            continue
        needed = STRIP + 26 + width_of(meaning)
        if x and x + needed > width:
            x, y = 0, y + _KEY
        lines.append(
            f'<g class="mm {kind}" transform="translate({x},{y})"><rect class="s" '
            f'width="{STRIP}" height="16" rx="3"/>{text_element(STRIP // 2, 12, sign, "k")}'
            f"{text_element(STRIP + 7, 12, meaning)}</g>"
        )
        x += needed
    return lines, y - top + _KEY + 8 if lines else 0


def _map(placed: MapLayout, links: Mapping[str, str]) -> Iterator[str]:
    for panel in placed.panels:
        yield from _panel(panel)
        yield from (_linked(box, links) for box in panel.boxes)


def _panel(one: Placed) -> Iterator[str]:
    title = f"<title>{_lines(one.panel.tooltip)}</title>" if one.panel.tooltip else ""
    yield f'<rect class="c c0" {_at(one.rect)} rx="8"{f">{title}</rect>" if title else "/>"}'
    for frame in one.frames:
        yield f'<rect class="o1" {_at(frame)} rx="6"/>'
    arrows = "".join(_way(points) for points in one.arrows)
    if arrows:
        yield f'<path class="o" d="{arrows}"/>'
    links = "".join(_way(points) for points in one.links)
    if links:
        yield f'<path class="o1" d="{links}"/>'
    heads = "".join(_arrow_head(points) for points in (*one.arrows, *one.links))
    if heads:
        yield f'<path class="a" d="{heads}"/>'
    yield from (_text(text) for text in one.texts)


def _linked(one: PlacedBox, links: Mapping[str, str]) -> str:
    target = links.get(one.box.graph, "")
    return f"<a href={quoteattr(target)}>{_box(one)}</a>" if target else _box(one)


def _box(one: PlacedBox) -> str:
    rect, box = one.rect, one.box
    title = f"<title>{_lines(box.tooltip)}</title>" if box.tooltip else ""
    parts = [
        f'<g class="mm {box.kind}">{title}<rect class="w" {_at(rect)} rx="4"/>',
        f'<path class="s" d="M{rect.x + STRIP} {rect.y}h-{STRIP - 4}a4 4 0 0 0-4 4v'
        f'{rect.height - 8}a4 4 0 0 0 4 4h{STRIP - 4}z"/>',
        text_element(rect.x + STRIP // 2, rect.y + rect.height // 2 + 5, box.sign, "k"),
        *(_text(text) for text in one.texts),
    ]
    if box.share:
        parts += _bar(rect, box.share)
    return "".join([*parts, "</g>"])


def _bar(rect: Rect, share: float) -> Iterator[str]:
    """Which part of a step a box takes, as a bar along its lower edge."""
    x, y, width = rect.x + STRIP + 8, rect.y + rect.height - 8, rect.width - STRIP - 16
    yield f'<rect class="z0" x="{x}" y="{y}" width="{width}" height="4" rx="2"/>'
    taken = max(4, round(width * share))
    yield f'<rect class="s" x="{x}" y="{y}" width="{taken}" height="4" rx="2"/>'


def _text(text: Text) -> str:
    return text_element(text.x, text.y, text.text, text.kind)


def _way(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)


def _arrow_head(points: Sequence[Point]) -> str:
    (_, y0), (x, y) = points[-2:]
    if y0 == y:
        return f"M{x} {y}l-{_HEAD}-4v8z"
    return f"M{x} {y}l-4 {_HEAD if y < y0 else -_HEAD}h8z"


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(xml_text(text) for text in texts)


def _at(rect: Rect) -> str:
    return f'x="{rect.x}" y="{rect.y}" width="{rect.width}" height="{rect.height}"'
