"""Tables of text that fit a terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tabulate import tabulate

GAP = 2
ELLIPSIS = "…"


@dataclass
class Grid:
    """Columns of text cells, on their way to a given width.

    Attributes:
        columns: Names, left to right.
        rows: Cells in the order of the columns.
        legend: What was said once instead of in every row, or left out.
    """

    columns: list[str]
    rows: list[list[str]]
    legend: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> "Grid":
        """A grid of the columns that have text in any row."""
        used = [name for name in columns if any(row.get(name) for row in rows)]
        return cls(used, [[row.get(name, "") for name in used] for row in rows])

    def cells(self, name: str) -> list[str]:
        """One column's cells; empty where there is no such column."""
        if name not in self.columns:
            return []
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def replace(self, name: str, cells: Sequence[str]) -> None:
        """Gives a column other cells."""
        index = self.columns.index(name)
        for row, cell in zip(self.rows, cells, strict=True):
            row[index] = cell

    def drop(self, name: str) -> None:
        """Takes a column out."""
        index = self.columns.index(name)
        del self.columns[index]
        for row in self.rows:
            del row[index]

    def without(self, names: Sequence[str]) -> "Grid":
        """A copy that lacks some columns."""
        copy = Grid(list(self.columns), [list(row) for row in self.rows])
        for name in names:
            copy.drop(name)
        return copy

    def widths(self) -> list[int]:
        """Widest text of each column, its name included."""
        return [max(map(len, [name, *self.cells(name)])) for name in self.columns]

    def width(self) -> int:
        """Width of the whole table."""
        return sum(self.widths()) + GAP * max(len(self.columns) - 1, 0)


def shorten(text: str, width: int) -> str:
    """Keeps the beginning."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + ELLIPSIS[: max(width, 0)]


def shorten_left(text: str, width: int) -> str:
    """Keeps the end, which is what tells paths apart."""
    if len(text) <= width:
        return text
    return ELLIPSIS[: max(width, 0)] + text[len(text) - max(width - 1, 0) :]


def shorten_middle(text: str, width: int) -> str:
    """Keeps both ends: the number at the end of a node's name tells it from its neighbours."""
    if len(text) <= width:
        return text
    tail = width // 3
    return shorten(text[: len(text) - tail], width - tail) + text[len(text) - tail :]


def shorten_path(text: str, width: int) -> str:
    """Keeps the end, cut after a slash where that loses no more than the next folder."""
    if len(text) <= width:
        return text
    kept = shorten_left(text, width)
    slash = kept.find("/")
    return ELLIPSIS + kept[slash:] if slash > 0 else kept


def shrink(
    grid: Grid, name: str, least: int, width: int, cut: Callable[[str, int], str] = shorten
) -> None:
    """Narrows a column by as much as the table is too wide, but not below ``least``."""
    over = grid.width() - width
    if over <= 0 or name not in grid.columns:
        return
    now = grid.widths()[grid.columns.index(name)]
    to = max(now - over, least, len(name))
    grid.replace(name, [cut(cell, to) for cell in grid.cells(name)])


def draw(grid: Grid, right: Sequence[str] = ()) -> list[str]:
    """The table as lines: names, a rule, rows.

    Args:
        grid: What to draw.
        right: Columns set flush right.
    """
    if not grid.columns:
        return []
    # The names are rows of their own: tabulate pads a header row by two columns, which a narrow
    # terminal does not have to spare.
    rule = ["-" * width for width in grid.widths()]
    align = ["right" if name in right else "left" for name in grid.columns]
    text = tabulate(
        [grid.columns, rule, *grid.rows],
        tablefmt="plain",
        disable_numparse=True,
        colalign=align,
    )
    return [line.rstrip() for line in text.split("\n")]
