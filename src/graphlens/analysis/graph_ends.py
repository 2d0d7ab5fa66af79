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
    of_compilation: dict[str, list[GraphBreak]] = {}
    # A function broken twice is resumed between: its first graph ends at the first break.
    for found in sorted(breaks, key=lambda found: found.line):
        for compile_id in dict.fromkeys(found.compile_ids):
            of_compilation.setdefault(compile_id, []).append(found)
    return tuple(_with_end(graph, of_compilation.get(graph.compile_id, ())) for graph in graphs)


def _with_end(graph: Graph, breaks: Sequence[GraphBreak]) -> Graph:
    if not graph.ended_by:
        return graph
    end = next((found for found in breaks if can_hold(graph, found)), None)
    if end is None:
        return graph
    return msgspec.structs.replace(graph, ended_by=f"{end.kind} at line {end.line}")
