"""A report from what was recorded: trace records joined with live graphs by compile id."""

from collections.abc import Sequence

import msgspec

from graphlens.analysis.break_records import collect_breaks
from graphlens.analysis.compilation_graphs import LiveGraph, LoweredPlaces, collect_graphs
from graphlens.analysis.frames import collect_frames, collect_recompiles
from graphlens.model import (
    Environment,
    Graph,
    GraphBreak,
    Note,
    Report,
    TraceRecord,
    Unavailable,
)


def assemble(
    records: Sequence[TraceRecord],
    live: Sequence[LiveGraph],
    lowered: Sequence[LoweredPlaces],
    environment: Environment,
    notes: Sequence[Note] = (),
) -> Report:
    """The report of a run.

    Args:
        records: Of torch's trace, in the order they came.
        live: Graphs that a backend of ours was given, in order.
        lowered: What the records do not say about lowered graphs.
        environment: Where it ran.
        notes: What was noticed while recording.
    """
    graphs = collect_graphs(records, live, lowered)
    return Report(
        environment=environment,
        frames=collect_frames(records),
        graphs=graphs,
        breaks=tuple(_with_hits(found, graphs) for found in collect_breaks(records)),
        recompiles=collect_recompiles(records),
        notes=(*notes, *_cache_notes(graphs)),
    )


def _with_hits(found: GraphBreak, graphs: Sequence[Graph]) -> GraphBreak:
    """A break that splits is run through whenever the graph that ends at it is run."""
    if found.consequence != "split":
        why = "the function runs eager, where calls are not counted"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    counts = [
        graph.hits
        for graph in graphs
        if graph.compile_id in found.compile_ids and _ends_in(graph, found.function)
    ]
    known = [count for count in counts if isinstance(count, int)]
    if not known:
        why = "no graph ends at this line, so nothing counts the calls"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    return msgspec.structs.replace(found, hits=sum(known))


def _ends_in(graph: Graph, function: str) -> bool:
    """Whether a graph that is in use was captured from a function or from the rest of it."""
    own = graph.function == function or f"_in_{function}_at_" in graph.function
    return own and graph.stage == "dynamo" and not graph.discarded


def _cache_notes(graphs: Sequence[Graph]) -> list[Note]:
    cached = sorted({graph.compile_id for graph in graphs if graph.cached})
    if not cached:
        return []
    return [
        Note(
            code="cached",
            message=f"A compile cache answered for {', '.join(cached)}. Lowered graphs there are "
            "those of the run that filled it, read from torch's trace; they have no module paths, "
            "and lines only where the present program has the same.",
            hint="TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 compiles them anew.",
        )
    ]
