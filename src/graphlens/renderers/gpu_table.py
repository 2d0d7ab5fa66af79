"""The kernels of a program for a GPU that is not there as a table, as text and as Markdown."""

from collections.abc import Iterator, Sequence

from tabulate import tabulate

from graphlens.analysis.kernels import nodes_of
from graphlens.model import Graph, Kernel, KernelBinary, Target, Unavailable
from graphlens.renderers.escape import markdown_text, one_line
from graphlens.renderers.fitting import Grid, draw, shorten, shorten_middle, shrink
from graphlens.renderers.gpu_words import range_text
from graphlens.renderers.kernel_table import UNKNOWN, operators_text
from graphlens.renderers.measures import brief_duration, percent, size_of_memory
from graphlens.renderers.wording import counted, graph_title, wrapped

NUMBER, KERNEL, LANGUAGE, OPERATORS = "#", "kernel", "language", "operators"
TIME, BOUND, REGISTERS, SPILLED = "at least", "bound by", "registers", "spilled"
SHARED, OCCUPANCY = "shared", "occupancy"
COLUMNS = (
    NUMBER, KERNEL, LANGUAGE, OPERATORS, TIME, BOUND, REGISTERS, SPILLED, SHARED, OCCUPANCY,
)  # fmt: skip
RIGHT = frozenset({NUMBER, TIME, REGISTERS, SPILLED, SHARED, OCCUPANCY})
_LEFT_OUT = (BOUND, LANGUAGE, SHARED, OPERATORS)


def has_preview(graph: Graph) -> bool:
    """Whether a graph's kernels are those of a preview."""
    return graph.cpu_program is not None and not isinstance(graph.kernels, Unavailable)


def gpu_table(graph: Graph, target: Target | None, width: int | None, root: str = "") -> str:
    """The kernels as text; empty where the graph was not previewed.

    Args:
        graph: Of a report.
        target: The GPU.
        width: Columns of text; None for no limit.
        root: Files below this folder are named relative to it.
    """
    if not has_preview(graph) or isinstance(graph.kernels, Unavailable):
        return ""
    rows = list(_rows(graph, graph.kernels))
    used = [name for name in COLUMNS if any(row.get(name) for row in rows)]
    grid = Grid.of(used, rows)
    if width is not None:
        _fit(grid, width)
    on = f" on {target.title}" if target else ""
    title = graph_title(graph, root).heading
    lines = wrapped(f"{title}{on}: {counted(len(graph.kernels), 'kernel')}", width)
    lines += draw(grid, right=[name for name in grid.columns if name in RIGHT])
    for text in [*_remarks(graph.kernels), *grid.legend]:
        lines += wrapped(text, width, "", "  ")
    return "\n".join(lines if width is None else [shorten(line, width) for line in lines]) + "\n"


def gpu_markdown(graph: Graph, most: int | None = None) -> str:
    """The same as Markdown.

    Args:
        graph: Of a report.
        most: Most kernels shown; None shows all.
    """
    if not has_preview(graph) or isinstance(graph.kernels, Unavailable) or not graph.kernels:
        return ""
    rows = list(_rows(graph, graph.kernels[:most]))
    used = [name for name in COLUMNS if any(row.get(name) for row in rows)]
    table = tabulate(
        [[markdown_text(row.get(name, "")) for name in used] for row in rows],
        used,
        tablefmt="github",
        disable_numparse=True,
        colalign=["right" if name in RIGHT else "left" for name in used],
    )
    remarks = "".join(f"\n{markdown_text(text)}  " for text in _remarks(graph.kernels[:most]))
    return f"On the GPU:\n\n{table}\n{remarks}"


def _rows(graph: Graph, kernels: Sequence[Kernel]) -> Iterator[dict[str, str]]:
    nodes = {node.name: node for node in graph.nodes}
    for number, kernel in enumerate(kernels, 1):
        known_nodes = [nodes[name] for name in nodes_of(kernel) if name in nodes]
        cells = {
            NUMBER: str(number),
            KERNEL: kernel.name,
            LANGUAGE: kernel.language,
            OPERATORS: operators_text(kernel, known_nodes),
            **_estimate_cells(kernel),
            **_machine_cells(kernel),
        }
        yield {name: one_line(text) for name, text in cells.items() if text}


def _estimate_cells(kernel: Kernel) -> dict[str, str]:
    estimate = kernel.estimate
    if isinstance(estimate, Unavailable):
        return {TIME: UNKNOWN}
    return {TIME: brief_duration(estimate.seconds), BOUND: estimate.bound}


def _machine_cells(kernel: Kernel) -> dict[str, str]:
    """Registers and the like, of all configurations from the least to the most."""
    if isinstance(kernel.binaries, Unavailable) or not kernel.binaries:
        return {REGISTERS: UNKNOWN} if kernel.language == "Triton" else {}
    made = kernel.binaries
    return {
        REGISTERS: range_text([str(one.registers) for one in _by(made, "registers")]),
        SPILLED: _memory([one.spilled_bytes for one in _by(made, "spilled_bytes")]),
        SHARED: _memory([one.shared_bytes for one in _by(made, "shared_bytes")]),
        OCCUPANCY: range_text([percent(one.occupancy) for one in _by(made, "occupancy")]),
    }


def _by(binaries: Sequence[KernelBinary], name: str) -> list[KernelBinary]:
    return sorted(binaries, key=lambda one: float(getattr(one, name)))


def _memory(values: Sequence[int]) -> str:
    return range_text([size_of_memory(value) for value in values]) if any(values) else ""


def _remarks(kernels: Sequence[Kernel]) -> Iterator[str]:
    """What numbers mean where there are several, and why some are missing."""
    several = any(
        not isinstance(one.binaries, Unavailable) and len(one.binaries) > 1 for one in kernels
    )
    if several:
        yield (
            "a range: of the configurations of a kernel, of which the GPU times all and keeps one"
        )
    reasons: dict[str, list[str]] = {}
    for number, kernel in enumerate(kernels, 1):
        missing: list[object] = [kernel.estimate]
        missing += [kernel.binaries] if kernel.language == "Triton" else []
        for value in missing:
            if isinstance(value, Unavailable):
                reasons.setdefault(value.reason, []).append(str(number))
    for reason, numbers in reasons.items():
        yield one_line(f"? of {', '.join(numbers)}: {reason}")


def _fit(grid: Grid, width: int) -> None:
    left_out = []
    shrink(grid, OPERATORS, 30, width, shorten)
    shrink(grid, KERNEL, 26, width, shorten_middle)
    shrink(grid, OPERATORS, 14, width, shorten)
    for name in _LEFT_OUT:
        if grid.width() > width and name in grid.columns:
            grid.drop(name)
            left_out.append(name)
    shrink(grid, KERNEL, 10, width, shorten_middle)
    if left_out:
        grid.legend.append(f"left out for the width: {', '.join(left_out)}")
