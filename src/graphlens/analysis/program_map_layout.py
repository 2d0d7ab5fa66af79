"""Where everything on the picture of a program's map stands, in whole pixels.

Narrow panels stand in columns that are read one after the other, as in a newspaper; wide ones
take the width of the page and end the columns above them.
"""

from collections.abc import Sequence
from itertools import groupby

from graphlens.analysis.even_columns import split_evenly
from graphlens.analysis.layout_data import Rect
from graphlens.analysis.program_map_boxes import Panel
from graphlens.analysis.program_map_panel import COLUMN, Placed, needed_width, place_panel
from graphlens.model.base import Data

PAGE, ONE_COLUMN = 1000, 640
GAP = 20
_CROWDED = 6


class MapLayout(Data, frozen=True, kw_only=True):
    """A laid out map.

    Attributes:
        width: Of everything.
        height: Of everything.
        panels: In the order given.
    """

    width: int
    height: int
    panels: tuple[Placed, ...]


def layout_map(panels: Sequence[Panel]) -> MapLayout:
    """Places panels from top to bottom, in their order."""
    needed = [needed_width(panel, len(panels) > _CROWDED) for panel in panels]
    narrow = [width for width in needed if width <= COLUMN[2]]
    wide = len(narrow) < len(needed)
    page = PAGE if wide or len(narrow) > 1 else ONE_COLUMN
    columns = 2 if len(narrow) < 3 or max(narrow) > COLUMN[3] else 3
    placed: list[Placed] = []
    y = 0
    for is_wide, group in groupby(zip(panels, needed, strict=True), key=lambda p: p[1] > COLUMN[2]):
        own = [panel for panel, _ in group]
        if is_wide or len(own) == 1:
            width = page if is_wide else ONE_COLUMN
            for panel in own:
                placed.append(place_panel(panel, 0, y, width))
                y = _bottom(placed[-1].rect) + GAP
        else:
            placed += _columns(own, y, min(columns, len(own)), page)
            y = max(_bottom(one.rect) for one in placed) + GAP
    return MapLayout(width=page, height=max(y - GAP, 0), panels=tuple(placed))


def _columns(panels: Sequence[Panel], y: int, columns: int, page: int) -> list[Placed]:
    """Panels in columns of about the same height."""
    width = (page - (columns - 1) * GAP) // columns
    placed = [place_panel(panel, 0, 0, width) for panel in panels]
    counts = split_evenly([one.rect.height + GAP for one in placed], columns)
    found: list[Placed] = []
    for column, count in enumerate(counts):
        top = y
        for panel in panels[len(found) : len(found) + count]:
            found.append(place_panel(panel, column * (width + GAP), top, width))
            top = _bottom(found[-1].rect) + GAP
    return found


def _bottom(rect: Rect) -> int:
    return rect.y + rect.height
