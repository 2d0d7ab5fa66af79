"""What the picture of a program's map is made of: panels of rows of boxes of lines of text."""

from graphlens.model.base import Data

SIZES = {"l": (13, True), "h": (12, True), "t": (16, True)}
"""Font size of each class of text, and whether it is bold; 11 and not for all others."""


class Line(Data, frozen=True, kw_only=True):
    """A line of a box.

    Attributes:
        text: Cut at its end where it does not fit.
        kind: Class of the text.
        right: What stands at the right end of the line; never cut before ``text``.
    """

    text: str
    kind: str = ""
    right: str = ""


class MapBox(Data, frozen=True, kw_only=True):
    """A graph, a break, or something that is no graph.

    Attributes:
        kind: Class of the box.
        sign: In its badge.
        lines: Its texts.
        tooltip: Everything that is known of it, line by line.
        share: Of a step's time, from 0 to 1.
        graph: Id of the graph that it is; empty for all else.
    """

    kind: str
    sign: str
    lines: tuple[Line, ...]
    tooltip: tuple[str, ...] = ()
    share: float = 0.0
    graph: str = ""


class Cell(Data, frozen=True, kw_only=True):
    """A box, and beside it what belongs to it.

    Attributes:
        box: The forward.
        backward: Its backward; None where it has none.
        link: What goes from one to the other.
    """

    box: MapBox
    backward: MapBox | None = None
    link: tuple[str, ...] = ()


class Row(Data, frozen=True, kw_only=True):
    """Boxes side by side: one of them runs.

    Attributes:
        cells: From left to right.
        caption: Of the frame around several.
    """

    cells: tuple[Cell, ...]
    caption: str = ""


class Panel(Data, frozen=True, kw_only=True):
    """A function, or a list of several.

    Attributes:
        lines: Its heading.
        rows: From top to bottom, in the order they run.
        notes: Texts under the heading that are wrapped.
        kind: Class of its frame.
        tooltip: What the heading has no room for.
    """

    lines: tuple[Line, ...]
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = ""
    tooltip: tuple[str, ...] = ()
