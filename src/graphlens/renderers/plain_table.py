"""A graph's rows as text that fits a terminal.

Until the table fits: what is the same in every row is said once above it; arguments, paths and
names are shortened; columns are left out, and the legend says which.
"""

from collections.abc import Callable
from functools import partial

from graphlens.renderers import columns as c
from graphlens.renderers.columns import Row
from graphlens.renderers.fitting import (
    Grid,
    draw,
    shorten,
    shorten_left,
    shorten_middle,
    shorten_path,
    shrink,
)
from graphlens.renderers.wording import wrapped

_Cut = Callable[[str, int], str]
# Column, least width, how it is cut: in the order of how little is lost.
_FIRST_CUTS: tuple[tuple[str, int, _Cut], ...] = (
    (c.KERNEL, 28, shorten_middle),
    (c.ARGUMENTS, 24, shorten),
    (c.LINE, 20, shorten_path),
    (c.MODULE, 14, shorten_left),
    (c.ARGUMENTS, 16, shorten),
    (c.KERNEL, 16, shorten_middle),
    (c.STRIDE, 12, shorten),
    (c.DTYPE, 10, shorten),
    (c.NAME, 12, shorten_middle),
    (c.OPERATOR, 16, shorten),
    (c.SHAPE, 18, shorten),
    (c.ARGUMENTS, 12, shorten),
)
_LAST_CUTS: tuple[tuple[str, int, _Cut], ...] = (
    (c.KERNEL, 9, shorten),
    (c.NAME, 10, shorten_middle),
    (c.ARGUMENTS, 9, shorten),
    (c.LINE, 12, shorten_path),
    (c.SHAPE, 10, shorten),
    (c.NAME, 6, shorten_middle),
    (c.OPERATOR, 8, shorten),
    (c.LINE, 6, shorten_left),
    (c.SHAPE, 6, shorten),
)
# How much the last cuts may take before it is better to leave a column out.
_BITTER = 10
_LEFT_OUT = (
    c.STRIDE,
    c.DEVICE,
    c.KERNEL,
    c.MODULE,
    c.DTYPE,
    c.ARGUMENTS,
    c.NAME,
    c.SHAPE,
    c.LINE,
    c.NUMBER,
)


def plain_table(rows: list[Row], width: int | None = None) -> str:
    """The rows as text, with the legend before them and a line where rows are left out."""
    shown = [row for row in rows if row.kind != "more"]
    grid = Grid.of(c.COLUMNS, [row.cells for row in shown])
    if width is not None:
        fit(grid, shown, width)
    lines = draw(grid, right=[c.NUMBER])
    header = 2 if lines else 0
    for index, row in enumerate(rows):
        if row.kind == "more":
            lines.insert(header + index, row.cells[c.OPERATOR])
    if width is not None:
        lines = [shorten(line, width) for line in lines]
    legend = wrapped("; ".join(grid.legend), width) if grid.legend else []
    return "".join(line + "\n" for line in [*legend, *lines])


def fit(grid: Grid, rows: list[Row], width: int) -> None:
    """Makes the grid fit, in the order of how little a reader misses."""
    contiguous = [row.contiguous for row in rows]
    steps = (_say_once, partial(_say_contiguous, contiguous), _say_file, _compact_sizes)
    for step in steps:
        if grid.width() <= width:
            return
        step(grid)
    for count in range(len(_LEFT_OUT) + 1):
        left_out = [name for name in _LEFT_OUT[:count] if name in grid.columns]
        trial = grid.without(left_out)
        for name, least, cut in _FIRST_CUTS:
            shrink(trial, name, least, width, cut)
        readable = trial.width() <= width + _BITTER
        for name, least, cut in _LAST_CUTS:
            shrink(trial, name, least, width, cut)
        if readable and trial.width() <= width:
            break
    grid.columns, grid.rows = trial.columns, trial.rows
    if left_out:
        grid.legend.append(f"left out for the width: {', '.join(left_out)}")


def _say_once(grid: Grid) -> None:
    """Takes out a dtype or device that all tensors share."""
    for name in (c.DTYPE, c.DEVICE):
        values = {cell for cell in grid.cells(name) if cell}
        if len(values) == 1:
            grid.drop(name)
            grid.legend.append(f"{name} {values.pop()}")


def _say_contiguous(contiguous: list[bool | None], grid: Grid) -> None:
    """Blanks the strides that follow from the shape."""
    if c.STRIDE not in grid.columns or not any(contiguous):
        return
    pairs = zip(grid.cells(c.STRIDE), contiguous, strict=True)
    cells = ["" if plain else cell for cell, plain in pairs]
    if any(cells):
        grid.replace(c.STRIDE, cells)
        grid.legend.append("contiguous where no stride is given")
    else:
        grid.drop(c.STRIDE)
        grid.legend.append("all contiguous")


def _say_file(grid: Grid) -> None:
    """Keeps only the numbers of lines that are all of one file."""
    cells = grid.cells(c.LINE)
    files = {cell.rpartition(":")[0] for cell in cells if cell}
    if len(files) == 1:
        grid.replace(c.LINE, [cell.rpartition(":")[2] for cell in cells])
        grid.legend.append(f"lines of {files.pop()}")


def _compact_sizes(grid: Grid) -> None:
    """Takes the spaces out of shapes and strides."""
    for name in (c.SHAPE, c.STRIDE):
        if name in grid.columns:
            cells = [cell.replace("], [", "]  [") for cell in grid.cells(name)]
            cells = [cell.replace(", ", ",").replace("]  [", "], [") for cell in cells]
            grid.replace(name, cells)
