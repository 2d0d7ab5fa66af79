"""Parts of a report for code that does the same where they are not known as where there are none.

What tells a reader of them must not use these: to it, what is not known is not nothing.
"""

from graphlens.model import Accuracy, Graph, GraphBreak, Kernel, Recompile, Report, Unavailable


def breaks_of(report: Report) -> tuple[GraphBreak, ...]:
    """Breaks of a report; none where they are not known."""
    return () if isinstance(report.breaks, Unavailable) else report.breaks


def recompiles_of(report: Report) -> tuple[Recompile, ...]:
    """Recompiles of a report; none where they are not known."""
    return () if isinstance(report.recompiles, Unavailable) else report.recompiles


def graph_kernels(graph: Graph) -> tuple[Kernel, ...]:
    """Kernels of a graph; none where they are not known."""
    return () if isinstance(graph.kernels, Unavailable) else graph.kernels


def compared_graphs(report: Report) -> list[tuple[Graph, Accuracy]]:
    """Graphs that were compared, without those lowered from one of them: they are its parts."""
    found = [(g, g.accuracy) for g in report.graphs if isinstance(g.accuracy, Accuracy)]
    captured = {graph.compile_id for graph, _ in found if graph.stage == "dynamo"}
    return [
        (graph, accuracy)
        for graph, accuracy in found
        if graph.stage == "dynamo" or graph.compile_id not in captured
    ]
