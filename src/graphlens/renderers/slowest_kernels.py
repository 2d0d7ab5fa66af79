"""The kernels that take most of the time, as rows and sentences: the same for every format."""

from graphlens.analysis.kernels import nodes_of
from graphlens.analysis.report_parts import graph_kernels
from graphlens.model import (
    KERNELS_NOT_TIMED,
    Ceilings,
    Graph,
    Kernel,
    KernelTimes,
    Measured,
    Report,
    Unavailable,
)
from graphlens.renderers.escape import one_line
from graphlens.renderers.kernel_table import operators_text, places_text
from graphlens.renderers.kernel_time_words import speed_text, time_cells
from graphlens.renderers.measures import duration, percent, size_of_memory
from graphlens.renderers.wording import counted

COLUMNS = ("share", "time", "graph", "kernel", "bound", "operators", "lines")
HEADING = "Slowest kernels"
OF_GRAPH = "Shares are of the time of the kernel's graph."
MOST = 10


def slowest_rows(report: Report, root: str = "") -> list[dict[str, str]]:
    """A row a kernel, the slowest first."""
    timed = [
        (kernel.seconds.median, graph, number, kernel)
        for graph in report.graphs
        for number, kernel in enumerate(graph_kernels(graph), 1)
        if isinstance(kernel.seconds, Measured)
    ]
    timed.sort(key=lambda one: -one[0])
    return [_row(graph, number, kernel, root) for _, graph, number, kernel in timed[:MOST]]


def _row(graph: Graph, number: int, kernel: Kernel, root: str) -> dict[str, str]:
    nodes = {node.name: node for node in graph.nodes}
    known = [nodes[name] for name in nodes_of(kernel) if name in nodes]
    time, share, bound = time_cells(graph, kernel)
    cells = {
        "share": share,
        "time": time,
        "graph": _name(graph),
        "kernel": f"{number} {kernel.name}",
        "bound": bound,
        "operators": operators_text(kernel, known),
        "lines": places_text(kernel.places, root),
    }
    return {name: one_line(text) for name, text in cells.items()}


def kernel_remarks(report: Report) -> list[str]:
    """What the kernels of each graph add up to, what they were measured against, what is missing.

    Nothing where kernels were not timed.
    """
    said = [
        f"{_name(graph)}: {_sum(graph, graph.kernel_times)}"
        for graph in report.graphs
        if isinstance(graph.kernel_times, KernelTimes)
    ]
    if said and isinstance(report.ceilings, Ceilings):
        said.append(_ceilings(report.ceilings))
    if said:
        said.insert(0, OF_GRAPH)
    return [*said, *_missing_bounds(report)]


def kernel_gaps(report: Report) -> list[str]:
    """Why the kernels of graphs were not timed, each reason once."""
    reasons: dict[str, list[str]] = {}
    for graph in report.graphs:
        times = graph.kernel_times
        if isinstance(times, Unavailable) and times != KERNELS_NOT_TIMED:
            reasons.setdefault(one_line(times.reason), []).append(_name(graph))
    return [f"Kernels of {', '.join(names)} not timed: {why}" for why, names in reasons.items()]


def _name(graph: Graph) -> str:
    return one_line(f"{graph.compile_id} {graph.stage}")


def _sum(graph: Graph, times: KernelTimes) -> str:
    return (
        f"{counted(len(graph_kernels(graph)), 'kernel')} of {duration(times.kernels.median)}, "
        f"{percent(times.covered.median)} of the graph's {duration(times.graph.median)}; "
        f"{duration(times.between.median)} of the program is between kernels, {_around(times)}"
    )


def _around(times: KernelTimes) -> str:
    """What torch does around the program, where it is more than noise."""
    if times.around.low <= 0:
        return "and nothing that can be measured around it."
    return f"and {duration(times.around.median)} around it, in torch."


def _ceilings(ceilings: Ceilings) -> str:
    found = [
        f"a copy of {size_of_memory(ceilings.copy_bytes // 2)} moves "
        f"{speed_text(ceilings.copy.best, 'B/s')}"
    ]
    found += [
        f"a product of {one.dtype} matrices of {one.size:,} makes "
        f"{speed_text(one.speed.best, 'FLOP/s')}"
        for one in ceilings.products
    ]
    return (
        f"Measured on this {one_line(ceilings.device)} with {counted(ceilings.threads, 'thread')}: "
        f"{'; '.join(found)}."
    )


def _missing_bounds(report: Report) -> list[str]:
    """Why the bounds of kernels that were timed are missing, each reason once."""
    reasons = {
        one_line(kernel.bound.reason): None
        for graph in report.graphs
        for kernel in graph_kernels(graph)
        if isinstance(kernel.seconds, Measured) and isinstance(kernel.bound, Unavailable)
    }
    return [f"? of a bound: {reason}" for reason in reasons]
