"""Graphs as SVG pictures: static, self-contained, the same bytes on every machine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphlens.analysis.box_size import TEXT_SIZE
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.layout import Layout, layout
from graphlens.analysis.text_width import text_width
from graphlens.errors import UsageError
from graphlens.model import Graph, Report
from graphlens.renderers.kernel_colours import kernel_legend, kernel_style
from graphlens.renderers.overlay import (
    FAMILY,
    KERNEL,
    Colour,
    Overlay,
    check_colour,
    overlaid,
    overlay,
)
from graphlens.renderers.svg_draw import draw, heat_legend, legend, text_element, xml_text
from graphlens.renderers.svg_style import THEMES, heat_style, style
from graphlens.renderers.viewing import Viewing

_MARGIN = 20
_TITLE_SIZE = 16
_TITLE = 34
_HIDDEN = 22
_BETWEEN = 36
_NARROWEST = 420


@dataclass(frozen=True, kw_only=True)
class SvgRenderer(Viewing):
    """Draws graphs; no other program or library is needed.

    Attributes:
        theme: ``light``, ``dark``, or ``auto`` for what the reader's system prefers.
        legend: Whether the picture explains its colours and signs.
        colour: What boxes are coloured by: ``family``, the kind of work; ``memory``; ``accuracy``,
            where a comparison found it; ``kernel``, of a graph that was compiled; ``time``, of the
            kernels, where a comparison measured it; or numbers by node name.
        height: What is taller is broken into columns, in pixels; None for what suits a screen.
    """

    theme: str = "auto"
    legend: bool = True
    colour: Colour = FAMILY
    height: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theme not in THEMES:
            raise UsageError(f"theme={self.theme!r}: give one of {', '.join(THEMES)}.")
        check_colour(self.colour)
        if self.height is not None and not (isinstance(self.height, int) and self.height > 0):
            raise UsageError(f"height={self.height!r}: give pixels above 0, or None.")

    def graph(self, graph: Graph) -> str:
        """One graph, with the bodies of its higher-order operators beneath it."""
        return self._picture(*self._coloured(graph))

    def report(self, report: Report) -> str:
        """Every graph that Dynamo captured, one beneath the other."""
        captured = [graph for graph in report.graphs if graph.stage == "dynamo"]
        made = [self._coloured(graph) for graph in captured]
        parts = [part for parts, _ in made for part in parts]
        return self._picture(parts, made[0][1] if made else None)

    def _coloured(self, graph: Graph) -> tuple[list[Diagram], Overlay | None]:
        parts, shown = self.of_graph(graph), overlay(graph, self.colour)
        return overlaid(parts, shown) if shown else parts, shown

    def _picture(self, parts: Sequence[Diagram], shown: Overlay | None) -> str:
        if not parts:
            parts = [Diagram(title="No graph was captured")]
        layouts = [layout(part, self.height) for part in parts]
        width = 2 * _MARGIN + max(
            _NARROWEST,
            *(text_width(part.title, _TITLE_SIZE, bold=True) * 21 // 20 for part in parts),
            *(text_width(part.hidden, TEXT_SIZE) * 21 // 20 for part in parts),
            *(placed.width for placed in layouts),
        )
        body: list[str] = []
        y = _MARGIN
        for number, (part, placed) in enumerate(zip(parts, layouts, strict=True)):
            body.append(text_element(_MARGIN, y + _TITLE_SIZE, part.title, "t"))
            y += _TITLE
            if part.hidden:
                body.append(text_element(_MARGIN, y + 4, part.hidden, "q"))
                y += _HIDDEN
            if number == 0 and self.legend:
                families = {box.family for each in parts for box in each.boxes}
                lines, height = legend(families, width - 2 * _MARGIN)
                if shown is not None:
                    lines, height = self._key(shown, parts)
                body += _moved(lines, _MARGIN, y)
                y += height + 12 if height else 0
            left = _MARGIN if placed.width * 2 > width else (width - placed.width) // 2
            body += _moved(draw(part, placed), left, y)
            y += placed.height + _BETWEEN
        return self._document(parts, layouts, body, width, y - _BETWEEN + _MARGIN)

    def _key(self, shown: Overlay, parts: Sequence[Diagram]) -> tuple[list[str], int]:
        if self.colour == KERNEL:
            return kernel_legend(shown.upto(parts))
        return heat_legend(shown.name, shown.upto(parts))

    def _overlay_style(self) -> str:
        if self.colour == FAMILY:
            return ""
        return kernel_style(self.theme) if self.colour == KERNEL else heat_style(self.theme)

    def _document(
        self,
        parts: Sequence[Diagram],
        layouts: Sequence[Layout],
        body: Sequence[str],
        width: int,
        height: int,
    ) -> str:
        title = (
            parts[0].title if len(parts) == 1 else f"{parts[0].title}, and {len(parts) - 1} more"
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gl" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">',
            f"<title>{xml_text(title)}</title>",
            f"<desc>{xml_text(_description(parts, layouts))}</desc>",
            f"<style>\n{style(self.theme)}{self._overlay_style()}</style>",
            f'<rect class="g" width="{width}" height="{height}"/>',
            *body,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _moved(lines: Iterable[str], x: int, y: int) -> list[str]:
    return [f'<g transform="translate({x},{y})">', *lines, "</g>"]


def _description(parts: Sequence[Diagram], layouts: Sequence[Layout]) -> str:
    boxes = sum(len(part.boxes) for part in parts)
    if not boxes:
        return "Nothing is drawn: there is no graph with nodes."
    tags = sum(len(placed.tags) for placed in layouts)
    named = f" {tags} tags name values where a line would be too long." if tags else ""
    return (
        f"{boxes} boxes for {sum(part.nodes for part in parts)} nodes, "
        f"{sum(part.operators for part in parts)} of them operators; "
        f"{sum(len(part.edges) for part in parts)} lines from top to bottom; "
        f"{sum(len(part.clusters) for part in parts)} modules as frames around their boxes.{named}"
    )
