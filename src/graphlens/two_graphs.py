"""Two graphs compared, whatever they are given as."""

import sys
from typing import Any

from graphlens.analysis.graph_diff import graph_diff
from graphlens.errors import UsageError
from graphlens.model import Graph, GraphDiff, Report


def diff(before: object, after: object) -> GraphDiff:
    """Compares two graphs by structure; names of nodes play no part.

    Args:
        before: A graph, a report with one captured graph, or a ``torch.fx.GraphModule``.
        after: The same.

    Raises:
        UsageError: One is none of these, or a report of several graphs.
    """
    return graph_diff(compared_graph(before), compared_graph(after))


def compared_graph(given: object) -> Graph:
    """A graph, the only one of a report, or what is read of a ``torch.fx.GraphModule``.

    Raises:
        UsageError: It is none of these, or a report of several graphs.
    """
    if isinstance(given, Graph):
        return given
    if isinstance(given, Report):
        return only_graph(given)
    torch: Any = sys.modules.get("torch")  # whoever has such a module has imported it
    if torch is not None and isinstance(given, torch.fx.GraphModule):
        from graphlens.capture.reader import read_graph

        nodes, subgraphs = read_graph(given)
        return Graph(
            id="graph", compile_id="graph", stage="dynamo", nodes=nodes, subgraphs=subgraphs
        )
    raise UsageError(
        f"A {type(given).__name__} is no graph. Give a graph of a report, such as "
        "report.graphs[0], a report with one graph, or a torch.fx.GraphModule."
    )


def only_graph(report: Report, name: str = "") -> Graph:
    """The graph of a report with a compile id or an id; without one, its only captured graph.

    Raises:
        UsageError: There is none of that name, or more than one to choose from.
    """
    captured = [graph for graph in report.graphs if graph.stage == "dynamo"]
    found = captured
    if name:
        found = [graph for graph in report.graphs if graph.id == name]
        found = found or [graph for graph in captured if graph.compile_id == name]
    if len(found) == 1:
        return found[0]
    ids = ", ".join(graph.id for graph in report.graphs) or "none"
    what = f"no graph {name}" if name else f"{len(captured)} captured graphs"
    raise UsageError(f"The report has {what}; its graphs: {ids}. Choose one of them.")
