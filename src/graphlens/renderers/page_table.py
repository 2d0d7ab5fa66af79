"""A table of text for the templates of pages."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from graphlens.renderers.overview import NUMBERS, UNKNOWN


@dataclass(frozen=True)
class PageTable:
    """Text cells with their columns' names.

    Attributes:
        columns: Names.
        rows: Cells in the order of the columns.
        numbers: Columns set flush right.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: Set[str] = NUMBERS

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        rows: Sequence[Mapping[str, str]],
        numbers: Set[str] = NUMBERS,
    ) -> "PageTable":
        """The columns that have text in any row."""
        used = tuple(name for name in columns if any(row.get(name) for row in rows))
        cells = tuple(tuple(row.get(name, "") for name in used) for row in rows)
        return cls(used, cells, numbers)

    def css(self, index: int) -> str:
        """Class of a column's cells."""
        name = self.columns[index]
        return "c-number" if name in self.numbers else f"c-{name.replace(' ', '-')}"

    @property
    def has_unknown(self) -> bool:
        """Whether any value could not be had."""
        return any(UNKNOWN in row for row in self.rows)
