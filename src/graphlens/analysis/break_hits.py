"""How often the program ran through a graph break."""

from collections.abc import Sequence

import msgspec

from graphlens.model import Graph, GraphBreak, Unavailable


def with_hits(found: GraphBreak, graphs: Sequence[Graph]) -> GraphBreak:
    """The break with its hits.

    A break that splits is run through whenever a graph of the function it stands in, which ends
    at it, is run. Torch meets it once more for each caller it inlines that function into; the
    callers' graphs end there too, and are not counted again.
    """
    if found.consequence != "split":
        why = "the function runs eager, where calls are not counted"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    met_in = [
        graph
        for graph in graphs
        if graph.stage == "dynamo"
        and not graph.discarded
        and graph.compile_id in found.compile_ids
        and can_hold(graph, found)
    ]
    begun = [g for g in met_in if not g.function.startswith("torch_dynamo_resume_in_")]
    innermost = max((g.source.line for g in begun if g.source), default=0)
    # Resumed functions of a caller that has the same name begin before the inner function does.
    counts = [g.hits for g in met_in if g.source and g.source.line >= innermost]
    known = [count for count in counts if isinstance(count, int)]
    if not known:
        why = "no graph ends at this line, so nothing counts the calls"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    return msgspec.structs.replace(found, hits=sum(known))


def can_hold(graph: Graph, found: GraphBreak) -> bool:
    """Whether the break's line can be in the function, or rest of a function, of a graph.

    Several functions of a file can have one name, such as ``forward``: the one that begins last
    before the line is the one that holds it.
    """
    place = graph.source
    if place is None or place.file != found.file or place.line > found.line:
        return False
    return graph.function == found.function or f"_in_{found.function}_at_" in graph.function
