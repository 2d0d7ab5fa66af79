"""A report from what was recorded: trace records joined with live graphs by compile id."""

from collections.abc import Sequence

from graphlens.analysis.break_causes import with_causes, with_error_causes
from graphlens.analysis.break_hits import with_all_hits
from graphlens.analysis.break_records import collect_breaks
from graphlens.analysis.compilation_graphs import REPLAY, LiveGraph, collect_graphs
from graphlens.analysis.compilations import compiled_functions
from graphlens.analysis.dynamic_sizes import with_dynamic
from graphlens.analysis.frames import collect_frames
from graphlens.analysis.graph_ends import with_ends
from graphlens.analysis.recompile_rewrites import with_rewrites
from graphlens.analysis.recompiles import (
    collect_recompiles,
    frame_speakers,
    with_recompile_advice,
)
from graphlens.analysis.source_code import ReadLines, SourceFiles
from graphlens.analysis.wrapped_modules import with_module_names
from graphlens.model import (
    NOT_GENERATED,
    Environment,
    Graph,
    Note,
    Report,
    TraceRecord,
    Unavailable,
)

_MOST_NAMES = 5


def assemble(
    records: Sequence[TraceRecord],
    live: Sequence[LiveGraph],
    environment: Environment,
    notes: Sequence[Note] = (),
    untraced: str = "",
    read: ReadLines = lambda _: (),
) -> Report:
    """The report of a run.

    Args:
        records: Of torch's trace, in the order they came.
        live: Graphs that a backend of ours was given, in order.
        environment: Where it ran.
        notes: What was noticed while recording.
        untraced: Why torch's trace could not be read; empty where it was.
        read: Gives the lines of a source file; none where it is not at hand.
    """
    roots = compiled_functions(records)
    frames = collect_frames(records)
    skipped = {c.compile_id for f in frames for c in f.compilations if c.outcome == "skipped"}
    found = with_causes(collect_breaks(records), read, roots, skipped)
    graphs = with_ends(collect_graphs(records, live), found)
    missing = Unavailable(untraced)
    frames = with_error_causes(frames, read, roots)
    frames = with_module_names(frames, graphs)
    breaks = with_all_hits(found, graphs, frames)
    speakers = frame_speakers(records, breaks)
    frames = with_dynamic(frames, graphs, speakers)
    recompiles = with_recompile_advice(collect_recompiles(records, speakers), frames)
    recompiles = with_rewrites(recompiles, SourceFiles(read))
    return Report(
        environment=environment,
        frames=frames,
        graphs=graphs,
        kernels=_kernel_names(graphs),
        breaks=missing if untraced else breaks,
        recompiles=missing if untraced else recompiles,
        notes=(*notes, *_replay_notes(records), *_module_notes(graphs)),
    )


def _kernel_names(graphs: Sequence[Graph]) -> tuple[str, ...] | Unavailable:
    """Names of kernels that were generated, each once."""
    known = [graph.kernels for graph in graphs if not isinstance(graph.kernels, Unavailable)]
    if not known:
        return NOT_GENERATED
    return tuple(dict.fromkeys(k.name for kernels in known for k in kernels if k.source))


def _first_of(names: Sequence[str]) -> str:
    """Names of a note: a large run has hundreds of graphs, and a note is to be read."""
    more = f" and {len(names) - _MOST_NAMES:,} more" if names[_MOST_NAMES:] else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _replay_notes(records: Sequence[TraceRecord]) -> list[Note]:
    cached = list(dict.fromkeys(r.compile_id for r in records if r.kind == REPLAY))
    if not cached:
        return []
    return [
        Note(
            code="cached",
            message=f"A compile cache answered for {_first_of(cached)}. Lowered graphs there are "
            "those of the run that filled it, read from torch's trace; they have no module paths, "
            "and lines only where the present program has the same.",
            hint="TORCHINDUCTOR_AUTOGRAD_CACHE=0 lowers them anew, and still uses built kernels.",
        )
    ]


def _module_notes(graphs: Sequence[Graph]) -> list[Note]:
    """Where no backend of ours saw the graph, that a node is in no module means nothing."""
    foreign = [g.id for g in graphs if g.stage == "dynamo" and g.read_from == "trace"]
    if not foreign:
        return []
    return [
        Note(
            code="no-module-paths",
            message=f"{_first_of(foreign)}: read from torch's trace, which has no module paths "
            "and names only the values in use of an operator with several.",
            hint="Compile with backend=graphlens.backend(inner=...) around the backend in use.",
        )
    ]
