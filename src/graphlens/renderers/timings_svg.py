"""Times of graphs and candidates as a bar chart: static, self-contained, the same bytes always.

One scale for the whole program and one for the graphs, both from zero. Graphs stand with the one
that takes longest first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphlens.analysis.text_width import shorten_middle, text_width
from graphlens.errors import UsageError
from graphlens.model import CandidateTiming, Graph, Report, Timing, Unavailable
from graphlens.renderers.bar_scale import Scale
from graphlens.renderers.comparison import timing_name, timings_of
from graphlens.renderers.measures import direction, duration, ratio, ratio_interval
from graphlens.renderers.svg_draw import text_element, xml_text
from graphlens.renderers.svg_style import THEMES, bar_classes, bar_style, style
from graphlens.renderers.wording import location_text

_MARGIN = 20
_TITLE, _TITLE_SIZE = 36, 16
_PANEL, _AXIS, _BETWEEN = 26, 20, 22
_GROUP, _BAR, _PITCH, _GAP = 20, 13, 19, 12
_LABELS = 22
_NARROWEST = 720  # a heading with function and place fits
_BARS = 430
_NAME, _LONGEST_NAME, _NUMBER = 11, 30, 11
_GROUP_NAME, _FUNCTION, _PLACE = 40, 36, 44
_TALL = 700
_REASON = 60
_Group = tuple[Timing, Graph | None]


@dataclass(frozen=True, kw_only=True)
class TimingsRenderer:
    """Draws a report's timings; no other program or library is needed.

    Attributes:
        theme: ``light``, ``dark``, or ``auto`` for what the reader's system prefers.
        root: Files below this folder are named relative to it.
    """

    theme: str = "auto"
    root: str = ""

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise UsageError(f"theme={self.theme!r}: give one of {', '.join(THEMES)}.")

    def report(self, report: Report) -> str:
        """The whole program, then every graph."""
        groups = timings_of(report)
        whole = [group for group in groups if not group[0].graph]
        graphs = sorted((group for group in groups if group[0].graph), key=_longest_first)
        heading = "Graphs, on a scale of their own" if whole else ""
        return self._picture([(name, own) for name, own in (("", whole), (heading, graphs)) if own])

    def graph(self, graph: Graph) -> str:
        """One graph."""
        timing = graph.timing
        return self._picture([("", [(timing, graph)])] if isinstance(timing, Timing) else [])

    def _picture(self, panels: Sequence[tuple[str, Sequence[_Group]]]) -> str:
        groups = [group for _, own in panels for group in own]
        colours = _colours(groups)
        left = _MARGIN + _names_width(colours)
        width = max(left + _BARS + _texts_width(groups) + _MARGIN, _NARROWEST)
        body = [text_element(_MARGIN, _MARGIN + _TITLE_SIZE, _title(groups), "t")]
        y = _MARGIN + _TITLE
        for number, (name, own) in enumerate(panels):
            y += _BETWEEN if number else 0
            if name:
                body.append(text_element(_MARGIN, y + 12, name, "h"))
                y += _PANEL
            lines, height = self._panel(own, colours, left)
            body += [f'<g transform="translate(0,{y})">', *lines, "</g>"]
            y += height
        height = y + _MARGIN
        return "\n".join([*_head(groups, width, height, self.theme), *body, "</svg>"]) + "\n"

    def _panel(
        self, groups: Sequence[_Group], colours: dict[str, str], left: int
    ) -> tuple[list[str], int]:
        """The groups of one scale, with its axis; and their height."""
        ends = [_end(one) for timing, _ in groups for one in timing.candidates]
        scale = Scale.of(max(ends, default=0.0), _BARS)
        marks: list[str] = []
        bands: list[tuple[int, int]] = []
        y = _AXIS
        for group in groups:
            marks += self._group(group, colours, scale, left, y)
            end = y + _GROUP + _PITCH * len(group[0].candidates)
            bands.append((y + _GROUP - 3, end))
            y = end + _GAP
        height = y - _GAP
        axes = [_grid(scale, left, bands), *_axis(scale, left, _AXIS - 12)]
        if height > _TALL:  # a reader at the end of a long chart has lost its beginning
            axes += _axis(scale, left, height + 14)
            height += _AXIS
        return [*axes, *marks], height

    def _group(
        self, group: _Group, colours: dict[str, str], scale: Scale, left: int, y: int
    ) -> Iterator[str]:
        timing, graph = group
        name = "Whole program" if timing.graph == "" else timing_name(timing, graph)
        name = shorten_middle(name, _GROUP_NAME)
        yield text_element(_MARGIN, y + 12, name, "l")
        if graph is not None:
            x = _MARGIN + text_width(name, 13, bold=True) * 21 // 20 + 8
            place = shorten_middle(location_text(graph.source, self.root), _PLACE)
            words = [shorten_middle(graph.function, _FUNCTION), f"({place})" if place else ""]
            yield text_element(x, y + 12, " ".join(filter(None, words)), "q")
        for number, one in enumerate(timing.candidates):
            top = y + _GROUP + _PITCH * number
            yield from _bar(one, number, colours[one.candidate], scale, left, top)


def _bar(
    one: CandidateTiming, number: int, colour: str, scale: Scale, left: int, top: int
) -> Iterator[str]:
    """One candidate: its name, bar, whisker and numbers."""
    base = top + _BAR - 2
    yield text_element(left - 8, base, shorten_middle(one.candidate, _LONGEST_NAME), "p")
    if isinstance(one.seconds, Unavailable):
        yield text_element(left + 6, base, shorten_middle(one.seconds.reason, _REASON), "q")
        return
    length = max(scale.x(one.seconds.median), 1)
    low, high = scale.x(one.seconds.low), scale.x(one.seconds.high)
    title = xml_text(f"{one.candidate}: {duration(one.seconds.median)}, "
                     f"{duration(one.seconds.low)} to {duration(one.seconds.high)}")  # fmt: skip
    yield (
        f'<g class="{colour}"><title>{title}</title>'
        f'<rect x="{left}" y="{top}" width="{length}" height="{_BAR}"/></g>'
    )
    if high - low > 1:
        middle = top + _BAR // 2
        yield (
            f'<path class="y" d="M{left + low} {middle}H{left + high}'
            f'M{left + low} {middle - 3}v6M{left + high} {middle - 3}v6"/>'
        )
    yield from _numbers(one, number, left + max(length, high) + 8, top)


def _numbers(one: CandidateTiming, number: int, x: int, top: int) -> Iterator[str]:
    """What a bar stands for, on its own ground, or the lines of the scale would strike it."""
    base = top + _BAR - 2
    time, factor, kind = _texts(one, number)
    start = text_width(time, _NUMBER, bold=True) * 21 // 20 + 8
    width = start + text_width(factor, _NUMBER) * 21 // 20 if factor else start - 4
    yield f'<rect class="g" x="{x - 2}" y="{top}" width="{width}" height="{_BAR}"/>'
    yield text_element(x, base, time, "n")
    if factor:
        yield text_element(x + start, base, factor, kind)


def _texts(one: CandidateTiming, number: int) -> tuple[str, str, str]:
    """Time, speed-up with its interval, and the latter's class."""
    if isinstance(one.seconds, Unavailable):
        return shorten_middle(one.seconds.reason, _REASON), "", "q"
    time = duration(one.seconds.median)
    if number == 0 or isinstance(one.speedup, Unavailable):
        return time, "", "q"
    word = direction(one.speedup)
    text = f"{ratio(one.speedup.median)} {word} ({ratio_interval(one.speedup)})"
    return time, text, {"slower": "f", "faster": "z"}.get(word, "q")


def _texts_width(groups: Sequence[_Group]) -> int:
    """Room that the numbers need beyond the longest bar."""
    widths = [0]
    for timing, _ in groups:
        for number, one in enumerate(timing.candidates):
            time, factor, _ = _texts(one, number)
            widths.append(text_width(time, _NUMBER, bold=True) + text_width(factor, _NUMBER))
    return max(widths) * 21 // 20 + _LABELS


def _names_width(colours: dict[str, str]) -> int:
    names = [shorten_middle(name, _LONGEST_NAME) for name in colours]
    return max([60, *(text_width(name, _NAME) * 21 // 20 for name in names)]) + 12


def _grid(scale: Scale, left: int, bands: Sequence[tuple[int, int]]) -> str:
    """Lines behind the bars; none where a heading stands, which they would strike through."""
    lines = "".join(f"M{left + x} {top}V{end}" for top, end in bands for x, _ in scale.ticks)
    return f'<path class="j" d="{lines}"/>'


def _axis(scale: Scale, left: int, y: int) -> Iterator[str]:
    for x, text in scale.ticks:
        yield text_element(left + x, y, text, "q i")


def _title(groups: Sequence[_Group]) -> str:
    return "Time of one run" if groups else "Nothing was timed"


def _colours(groups: Sequence[_Group]) -> dict[str, str]:
    """A class for each candidate; what the others are measured against is grey."""
    names = dict.fromkeys(one.candidate for timing, _ in groups for one in timing.candidates)
    first, *others = bar_classes()
    return {
        name: first if number == 0 else others[(number - 1) % len(others)]
        for number, name in enumerate(names)
    }


def _end(one: CandidateTiming) -> float:
    return (
        0.0 if isinstance(one.seconds, Unavailable) else max(one.seconds.high, one.seconds.median)
    )


def _longest_first(group: _Group) -> float:
    times = [one.seconds for one in group[0].candidates]
    return -max((time.median for time in times if not isinstance(time, Unavailable)), default=0.0)


def _head(groups: Sequence[_Group], width: int, height: int, theme: str) -> Iterator[str]:
    bars = sum(len(timing.candidates) for timing, _ in groups)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gl" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">'
    )
    yield f"<title>{xml_text(_title(groups))}</title>"
    yield (
        f"<desc>{bars} bars for {len(groups)} graphs or parts of them. A bar's length is the "
        "median; the line on its end is the 95 % confidence interval.</desc>"
    )
    yield f"<style>\n{style(theme)}{bar_style(theme)}</style>"
    yield f'<rect class="g" width="{width}" height="{height}"/>'
