"""The kernels of a graph as a table, in the order of execution, as text and as Markdown."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tabulate import tabulate

from graphlens.analysis.kernels import nodes_of
from graphlens.analysis.operator_kinds import is_view, operator_name
from graphlens.model import (
    KERNELS_NOT_TIMED,
    Graph,
    Kernel,
    Node,
    SourceLocation,
    Unavailable,
)
from graphlens.renderers.escape import markdown_text, one_line
from graphlens.renderers.fitting import (
    Grid,
    draw,
    shorten,
    shorten_left,
    shorten_middle,
    shrink,
)
from graphlens.renderers.kernel_time_words import brief, time_cells
from graphlens.renderers.measures import significant, size_of_memory
from graphlens.renderers.wording import (
    counted,
    cuda_graphs_text,
    graph_title,
    location_text,
    wrapped,
)

NUMBER, KERNEL, LANGUAGE, OPERATORS = "#", "kernel", "language", "operators"
LINES, READ, WRITTEN, FLOPS = "lines", "read", "written", "flops"
TIME, SHARE, BOUND = "time", "share", "bound"
COLUMNS = (
    NUMBER, KERNEL, TIME, SHARE, BOUND, LANGUAGE, OPERATORS, LINES, READ, WRITTEN, FLOPS,
)  # fmt: skip
NUMBERS = frozenset({NUMBER, SHARE, READ, WRITTEN, FLOPS})
UNKNOWN = "?"
_LEFT_OUT = (LINES, LANGUAGE, WRITTEN, READ, BOUND, SHARE)
_FLOPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def kernel_table(
    graph: Graph, width: int | None = None, most: int | None = None, root: str = ""
) -> str:
    """The kernels of a graph as text; empty where no program was recorded.

    Args:
        graph: Of a report.
        width: Columns of text; None for no limit.
        most: Most kernels shown; None shows all.
        root: Files below this folder are named relative to it.
    """
    if isinstance(graph.kernels, Unavailable):
        return ""
    grid = Grid.of(COLUMNS, [*_rows(graph, graph.kernels[:most], root)])
    if width is not None:
        _fit(grid, width)
    heading = f"{graph_title(graph, root).heading}: {counted(len(graph.kernels), 'kernel')}"
    lines = wrapped(heading, width)
    lines += draw(grid, right=[name for name in grid.columns if name in NUMBERS])
    for text in [*_remarks(graph, graph.kernels, most), *grid.legend]:
        lines += wrapped(text, width, "", "  ")
    return "\n".join(lines if width is None else [shorten(line, width) for line in lines]) + "\n"


def kernel_markdown(graph: Graph, most: int | None = None, root: str = "") -> str:
    """The same as Markdown."""
    if isinstance(graph.kernels, Unavailable) or not graph.kernels:
        return ""
    rows = [*_rows(graph, graph.kernels[:most], root)]
    used = [name for name in COLUMNS if any(row.get(name) for row in rows)]
    table = tabulate(
        [[markdown_text(row.get(name, "")) for name in used] for row in rows],
        used,
        tablefmt="github",
        disable_numparse=True,
        colalign=["right" if name in NUMBERS else "left" for name in used],
    )
    remarks = "".join(f"\n{markdown_text(text)}  " for text in _remarks(graph, graph.kernels, most))
    return f"{counted(len(graph.kernels), 'kernel')}:\n\n{table}\n{remarks}"


def _rows(graph: Graph, kernels: Sequence[Kernel], root: str) -> Iterator[dict[str, str]]:
    nodes = {node.name: node for node in graph.nodes}
    for number, kernel in enumerate(kernels, 1):
        known = [nodes[name] for name in nodes_of(kernel) if name in nodes]
        cells = {
            NUMBER: str(number),
            KERNEL: kernel.name,
            LANGUAGE: kernel.language,
            **_times(graph, kernel),
            OPERATORS: operators_text(kernel, known),
            LINES: places_text(kernel.places, root),
            READ: _bytes(kernel.read_bytes),
            WRITTEN: _bytes(kernel.written_bytes),
            FLOPS: UNKNOWN if isinstance(kernel.flops, Unavailable) else flops_text(kernel.flops),
        }
        yield {name: one_line(text) for name, text in cells.items() if text}


def places_text(places: Sequence[SourceLocation], root: str) -> str:
    """Lines, the file named once: ``model.py:12, 15``."""
    files: dict[str, list[str]] = {}
    for place in places:
        file, _, line = location_text(place, root).rpartition(":")
        files.setdefault(file, []).append(line)
    return "; ".join(f"{file}:{', '.join(lines)}" for file, lines in files.items())


def flops_text(flops: int) -> str:
    """A number of operations as ``2.10 M``."""
    for size, unit in _FLOPS:
        if flops >= size:
            return f"{significant(flops / size)} {unit}"
    return str(flops)


def _times(graph: Graph, kernel: Kernel) -> dict[str, str]:
    """Nothing where the kernels of the graph were not timed."""
    if isinstance(graph.kernel_times, Unavailable):
        return {}
    return dict(zip((TIME, SHARE, BOUND), time_cells(graph, kernel), strict=True))


def operators_text(kernel: Kernel, nodes: Sequence[Node]) -> str:
    """What a kernel computes, views left out: ``addmm, relu ×2``."""
    if isinstance(kernel.nodes, Unavailable):
        return UNKNOWN
    counts = Counter(operator_name(node) for node in nodes if not is_view(node))
    return ", ".join(name if n == 1 else f"{name} ×{n}" for name, n in counts.items())


def _bytes(value: int | Unavailable) -> str:
    return UNKNOWN if isinstance(value, Unavailable) else size_of_memory(value)


def _remarks(graph: Graph, kernels: Sequence[Kernel], most: int | None) -> Iterator[str]:
    """What is left out, operators without a kernel, and why numbers are missing."""
    if most is not None and len(kernels) > most:
        yield f"... {counted(len(kernels) - most, 'more kernel')}"
    if not isinstance(graph.unassigned, Unavailable):
        why = Counter(reason.partition(":")[0] for _, reason in graph.unassigned)
        texts = [f"{count:,} {reason}" for reason, count in why.items()]
        if texts:
            yield one_line(f"operators without a kernel: {'; '.join(texts)}")
    if isinstance(graph.kernel_times, Unavailable) and graph.kernel_times != KERNELS_NOT_TIMED:
        yield one_line(f"times: {graph.kernel_times.reason}")
    if cuda_graphs := cuda_graphs_text(graph):
        yield cuda_graphs
    reasons: dict[str, list[str]] = {}
    for number, kernel in enumerate(kernels[:most], 1):
        missing: list[object] = [
            kernel.nodes,
            kernel.read_bytes,
            kernel.written_bytes,
            kernel.flops,
        ]
        if not isinstance(graph.kernel_times, Unavailable):
            missing += [kernel.seconds, kernel.bound]
        for value in missing:
            if isinstance(value, Unavailable):
                numbers = reasons.setdefault(value.reason, [])
                numbers += [str(number)] if str(number) not in numbers else []
    for reason, numbers in reasons.items():
        yield one_line(f"? of {', '.join(numbers)}: {reason}")


def _fit(grid: Grid, width: int) -> None:
    left_out = []
    shrink(grid, OPERATORS, 30, width, shorten)
    shrink(grid, KERNEL, 30, width, shorten_middle)
    shrink(grid, LINES, 16, width, shorten_left)
    shrink(grid, OPERATORS, 16, width, shorten)
    if grid.width() > width and TIME in grid.columns:
        grid.replace(TIME, [cell.partition(" (")[0] for cell in grid.cells(TIME)])
    if grid.width() > width and BOUND in grid.columns:
        grid.replace(BOUND, [brief(cell) for cell in grid.cells(BOUND)])
    for name in _LEFT_OUT:
        if grid.width() > width and name in grid.columns:
            grid.drop(name)
            left_out.append(name)
    shrink(grid, KERNEL, 10, width, shorten_middle)
    shrink(grid, OPERATORS, 8, width, shorten)
    if left_out:
        grid.legend.append(f"left out for the width: {', '.join(left_out)}")
