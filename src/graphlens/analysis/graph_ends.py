"""Why a graph ends where it does, in the words of the break that ended it."""

from collections.abc import Iterable, Sequence

import msgspec

from graphlens.analysis.break_hits import can_hold
from graphlens.model import Graph, GraphBreak


def with_ends(graphs: Iterable[Graph], breaks: Sequence[GraphBreak]) -> tuple[Graph, ...]:
    """Graphs with the kind and line of the break that ended them.

    The backend is told only a short reason in Dynamo's own terms, such as ``generic_jump
    TensorVariable()``; it stays where no single break of the graph's function fits.
    """
    return tuple(_with_end(graph, breaks) for graph in graphs)


def _with_end(graph: Graph, breaks: Sequence[GraphBreak]) -> Graph:
    if not graph.ended_by:
        return graph
    fitting = [b for b in breaks if graph.compile_id in b.compile_ids and can_hold(graph, b)]
    # A function broken twice is resumed between: its first graph ends at the first break.
    fitting.sort(key=lambda found: found.line)
    if not fitting:
        return graph
    return msgspec.structs.replace(graph, ended_by=f"{fitting[0].kind} at line {fitting[0].line}")
