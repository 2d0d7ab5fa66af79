"""A comparison as terminal text: what came of it in a few lines, and its tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphlens.model import Report, StepParts, Unavailable
from graphlens.renderers import slowest_kernels
from graphlens.renderers.comparison import (
    ACCURACY_COLUMNS,
    COMPILE_COLUMNS,
    ERROR_COLUMNS,
    NUMBERS,
    TIMING_COLUMNS,
    accuracy_rows,
    compile_gaps,
    compile_rows,
    facts,
    has_comparison,
    step_rows,
    step_sum,
    timing_conditions,
    timing_gaps,
    timing_rows,
)
from graphlens.renderers.finding_text import SAVE
from graphlens.renderers.fitting import (
    Grid,
    draw,
    shorten,
    shorten_left,
    shorten_middle,
    shorten_path,
    shrink,
)
from graphlens.renderers.kernel_time_words import brief
from graphlens.renderers.wording import counted, wrapped

MOST_GRAPHS = 60
MOST_PARTS = 15
# What is cut for the width stands last.
_STEP_COLUMNS = ("share", "time", "runs", "what")


@dataclass(frozen=True)
class ComparisonText:
    """A comparison as lines of text.

    Attributes:
        width: Columns of text; None for no limit.
        root: Files below this folder are named relative to it.
    """

    width: int | None
    root: str = ""

    def facts(self, report: Report) -> list[str]:
        """Whether it is right, faster, and pays; nothing where it was not compared."""
        return [
            line
            for fact in facts(report)
            for line in wrapped(fact.text, self.width, f"  {fact.name}: ", "    ")
        ]

    def tables(self, report: Report) -> list[list[str]]:
        """Blocks of lines, one a table; nothing where it was not compared."""
        if not has_comparison(report):
            return []
        blocks = [self._accuracy(report), self._timings(report)]
        if isinstance(report.step, StepParts):
            blocks.append(self._step(report.step, report))
        blocks += [self._kernels(report), self._compilation(report)]
        return [block for block in blocks if block]

    def _accuracy(self, report: Report) -> list[str]:
        rows = accuracy_rows(report, self.root)
        if not rows:
            return []
        shown = rows[: MOST_GRAPHS + 1]
        grid = Grid.of(ACCURACY_COLUMNS, shown)
        if self.width is not None:
            for name, least in (("remarks", 24), ("place", 16), ("function", 12), ("remarks", 16)):
                shrink(grid, name, least, self.width, _CUTS.get(name, shorten))
            self._drop(grid, ("tensors", "place", "hits", "ops", "remarks", "function"))
        more = self._more(len(rows) - len(shown), "graph")
        heading = wrapped(f"Accuracy. {ERROR_COLUMNS}", self.width)
        return [*heading, *self._drawn(grid), *more]

    def _timings(self, report: Report) -> list[str]:
        rows = timing_rows(report)
        if not rows:
            return []
        starts = [index for index, row in enumerate(rows) if row["graph"]]
        end = starts[MOST_GRAPHS + 1] if len(starts) > MOST_GRAPHS + 1 else len(rows)
        grid = Grid.of(TIMING_COLUMNS, rows[:end])
        if self.width is not None:
            shrink(grid, "function", 12, self.width, shorten_middle)
            shrink(grid, "candidate", 16, self.width, shorten_middle)
            self._drop(grid, ("function",))
            if grid.width() > self.width:
                for name in ("time", "speed-up"):
                    if name in grid.columns:
                        cells = [_tight(cell) for cell in grid.cells(name)]
                        grid.replace(name, cells)
            shrink(grid, "candidate", 10, self.width, shorten_middle)
            self._drop(grid, ("peak memory",))
            if grid.width() > self.width:  # a ratio keeps its interval, whatever the width
                grid.replace("time", [cell.partition(" (")[0] for cell in grid.cells("time")])
            shrink(grid, "graph", 10, self.width, shorten_middle)
            self._drop(grid, ("time",))
        more = self._more(sum(start >= end for start in starts), "graph")
        for text in timing_gaps(report):
            more += wrapped(text, self.width)
        heading = wrapped(f"Time of one run. {timing_conditions(report)}", self.width)
        return [*heading, *self._drawn(grid), *more]

    def _step(self, step: StepParts, report: Report) -> list[str]:
        rows = step_rows(step, report, self.root)
        grid = Grid.of(_STEP_COLUMNS, rows[:MOST_PARTS])
        if self.width is not None:
            shrink(grid, "what", 30, self.width)
            if grid.width() > self.width:
                grid.replace("time", [cell.partition(" (")[0] for cell in grid.cells("time")])
        more = self._more(len(rows[MOST_PARTS:]), "part")
        total = wrapped(step_sum(step), self.width)
        return ["Where the time of a step goes", *self._drawn(grid), *more, *total]

    def _kernels(self, report: Report) -> list[str]:
        grid = Grid.of(slowest_kernels.COLUMNS, slowest_kernels.slowest_rows(report, self.root))
        if self.width is not None:
            for name, least, cut in _KERNEL_CUTS:
                shrink(grid, name, least, self.width, cut)
            if grid.width() > self.width and "time" in grid.columns:
                grid.replace("time", [cell.partition(" (")[0] for cell in grid.cells("time")])
            if grid.width() > self.width and "bound" in grid.columns:
                grid.replace("bound", [brief(cell) for cell in grid.cells("bound")])
            self._drop(grid, ("lines", "operators"))
            shrink(grid, "kernel", 12, self.width, shorten_middle)
            self._drop(grid, ("bound", "graph"))
        said = slowest_kernels.kernel_remarks(report)
        remarks = [line for text in said for line in wrapped(text, self.width)]
        if not grid.rows:
            return []
        return [slowest_kernels.HEADING, *self._drawn(grid), *remarks]

    def _compilation(self, report: Report) -> list[str]:
        payback = report.payback
        if isinstance(payback, Unavailable):
            return []
        lines = self._drawn(Grid.of(COMPILE_COLUMNS, compile_rows(payback)))
        for gap in compile_gaps(payback):
            lines += wrapped(gap, self.width)
        return ["Compilation, with cold and with warm caches", *lines] if lines else []

    def _drop(self, grid: Grid, names: Sequence[str]) -> None:
        for name in names:
            if self.width is not None and grid.width() > self.width and name in grid.columns:
                grid.drop(name)

    def _drawn(self, grid: Grid) -> list[str]:
        lines = draw(grid, right=[name for name in grid.columns if name in NUMBERS])
        return [line if self.width is None else shorten(line, self.width) for line in lines]

    def _more(self, count: int, noun: str) -> list[str]:
        return [f"... {counted(count, f'more {noun}')}: {SAVE}"] if count > 0 else []


_KERNEL_CUTS = (
    ("operators", 24, shorten),
    ("kernel", 24, shorten_middle),
    ("lines", 16, shorten_left),
    ("operators", 16, shorten),
)
_CUTS = {"place": shorten_path, "function": shorten_middle}


def _tight(cell: str) -> str:
    return cell.replace(" to ", "–")
