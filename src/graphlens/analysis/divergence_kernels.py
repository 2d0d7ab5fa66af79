"""The kernels that compute the operator at which a graph begins to diverge."""

import msgspec

from graphlens.model import Accuracy, Divergence, Graph, Kernel, Report, Unavailable

_STAGES = {"forward": ("forward", "inference"), "backward": ("backward",)}


def with_divergence_kernels(report: Report) -> Report:
    """The report with the names of kernels at each first divergence, where they are known."""
    graphs = tuple(_graph(graph, report) for graph in report.graphs)
    pairs = zip(report.graphs, graphs, strict=True)
    changed = [(_first(old), _first(new)) for old, new in pairs]
    whole = report.accuracy
    for old, new in changed:
        if old is not None and isinstance(whole, Accuracy) and whole.first_divergence == old:
            whole = msgspec.structs.replace(whole, first_divergence=new)
    return msgspec.structs.replace(report, graphs=graphs, accuracy=whole)


def _graph(graph: Graph, report: Report) -> Graph:
    first = _first(graph)
    if first is None or not isinstance(graph.accuracy, Accuracy):
        return graph
    names = dict.fromkeys(
        kernel.name
        for lowered in report.graphs
        if lowered.compile_id == graph.compile_id and lowered.stage in _STAGES[first.part]
        for kernel in (() if isinstance(lowered.kernels, Unavailable) else lowered.kernels)
        if _computes(kernel, first.node)
    )
    if not names:
        return graph
    found = msgspec.structs.replace(first, kernels=tuple(names))
    accuracy = msgspec.structs.replace(graph.accuracy, first_divergence=found)
    return msgspec.structs.replace(graph, accuracy=accuracy)


def _first(graph: Graph) -> Divergence | None:
    """Where a Dynamo graph diverges first; None where it does not, or where that is not known."""
    if graph.stage != "dynamo" or not isinstance(graph.accuracy, Accuracy):
        return None
    first = graph.accuracy.first_divergence
    return first if isinstance(first, Divergence) and first.part in _STAGES else None


def _computes(kernel: Kernel, node: str) -> bool:
    return not isinstance(kernel.origins, Unavailable) and node in kernel.origins
