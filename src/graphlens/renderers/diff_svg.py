"""Two compared graphs as one picture, side by side."""

from dataclasses import dataclass

from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diff_diagrams import diff_diagrams
from graphlens.analysis.layout import Layout, layout
from graphlens.analysis.text_width import shorten_middle, text_width
from graphlens.errors import UsageError
from graphlens.model import GraphDiff
from graphlens.renderers.diff_wording import summary_line
from graphlens.renderers.svg_draw import draw, mark_legend, text_element, xml_text
from graphlens.renderers.svg_style import THEMES, mark_style, style

_MARGIN, _BETWEEN = 20, 40
_TITLE, _HEADING, _HEADING_SIZE = 34, 30, 12
_NARROWEST = 320
_TALLEST = 4000
_LONGEST = 90


@dataclass(frozen=True, kw_only=True)
class DiffSvgRenderer:
    """Draws the differences of two graphs.

    Attributes:
        theme: ``light``, ``dark``, or ``auto`` for what the reader's system prefers.
        context: How many steps around a difference are drawn; None for everything.
        legend: Whether the picture explains its colours and signs.
    """

    theme: str = "auto"
    context: int | None = 3
    legend: bool = True

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise UsageError(f"theme={self.theme!r}: give one of {', '.join(THEMES)}.")
        if self.context is not None and (not isinstance(self.context, int) or self.context < 0):
            raise UsageError(f"context={self.context!r}: give steps from 0 on, or None for all.")

    def diff(self, diff: GraphDiff) -> str:
        """The two graphs, the first on the left, and the bodies of their operators below."""
        pairs = diff_diagrams(diff, self.context)
        # In one column each, as far as it goes: what belongs together stands side by side.
        placed = [[(one, layout(one, _TALLEST)) if one else None for one in pair] for pair in pairs]
        widths = [
            max([_NARROWEST, *(one[1].width for pair in placed if (one := pair[side]))])
            for side in (0, 1)
        ]
        lefts = (_MARGIN, _MARGIN + widths[0] + _BETWEEN)
        width = lefts[1] + widths[1] + _MARGIN
        title = summary_line(diff)
        width = max(width, 2 * _MARGIN + text_width(title, 16, bold=True) * 21 // 20)
        body = [text_element(_MARGIN, _MARGIN + 16, title, "t")]
        y = _MARGIN + _TITLE
        if self.legend:
            lines, height = mark_legend()
            body += [f'<g transform="translate({_MARGIN},{y})">', *lines, "</g>"]
            y += height + 8
        for pair in placed:
            for side, one in enumerate(pair):
                if one is not None:
                    body += _column(one, lefts[side], y, widths[side])
            y += _HEADING + max(one[1].height for one in pair if one) + _BETWEEN
        return self._document(title, diff, body, width, y - _BETWEEN + _MARGIN)

    def _document(
        self, title: str, diff: GraphDiff, body: list[str], width: int, height: int
    ) -> str:
        described = (
            f"Left {diff.before.id}, right {diff.after.id}. Added boxes have a plus, removed ones "
            "a minus, changed ones a tilde with what changed; the others are the same in both."
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gl" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">',
            f"<title>{xml_text(title)}</title>",
            f"<desc>{xml_text(described)}</desc>",
            f"<style>\n{style(self.theme)}{mark_style(self.theme)}</style>",
            f'<rect class="g" width="{width}" height="{height}"/>',
            *body,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _column(one: tuple[Diagram, Layout], left: int, top: int, width: int) -> list[str]:
    diagram, placed = one
    title = shorten_middle(diagram.title, _LONGEST)
    while text_width(title, _HEADING_SIZE, bold=True) > width and len(title) > 20:
        title = shorten_middle(title, len(title) - 5)
    return [
        text_element(left, top + 14, title, "h"),
        f'<g transform="translate({left},{top + _HEADING})">',
        *draw(diagram, placed),
        "</g>",
    ]
