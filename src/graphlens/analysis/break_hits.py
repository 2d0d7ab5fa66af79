"""How often the program ran through a graph break."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from graphlens.model import Frame, Graph, GraphBreak, SourceLocation, Unavailable

_RESUMED = "torch_dynamo_resume_in_"


@dataclass(frozen=True)
class _Part:
    """A compiled function, or rest of one, that a break was met in; with its graph, if any."""

    compile_id: str
    function: str
    line: int
    hits: int | Unavailable | None


def with_hits(
    found: GraphBreak, graphs: Sequence[Graph], frames: Sequence[Frame] = ()
) -> GraphBreak:
    """The break with its hits.

    A break that splits is run through whenever a graph of the function it stands in, which ends
    at it, is run. Torch meets it once more for each caller it inlines that function into; the
    callers' graphs end there too, and are not counted again.

    Args:
        found: The break.
        graphs: All graphs.
        frames: All frames. They tell of compilations that have no graph, as no operator came
            before the break: calls that ran those were counted by nothing.
    """
    if found.consequence != "split":
        why = "the function runs eager, where calls are not counted"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    parts = _innermost([*_parts_with_graph(found, graphs), *_parts_without(found, graphs, frames)])
    known = [part.hits for part in parts if isinstance(part.hits, int)]
    if not known:
        why = "no graph ends at this line, so nothing counts the calls"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    if any(part.hits is None for part in parts):
        why = "in some calls no graph ends at this line, so nothing counts those"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    return msgspec.structs.replace(found, hits=sum(known))


def _innermost(parts: Sequence[_Part]) -> list[_Part]:
    """The parts of the function that begins last before the break.

    Resumed functions of a caller that has the same name begin before the inner function does.
    """
    begun = [part.line for part in parts if not part.function.startswith(_RESUMED)]
    innermost = max(begun, default=0)
    return [part for part in parts if part.line >= innermost]


def _parts_with_graph(found: GraphBreak, graphs: Iterable[Graph]) -> list[_Part]:
    return [
        _Part(graph.compile_id, graph.function, graph.source.line, graph.hits)
        for graph in graphs
        if graph.source is not None
        and graph.stage == "dynamo"
        and not graph.discarded
        and graph.compile_id in found.compile_ids
        and can_hold(graph, found)
    ]


def _parts_without(
    found: GraphBreak, graphs: Iterable[Graph], frames: Iterable[Frame]
) -> list[_Part]:
    with_graph = {g.compile_id for g in graphs if g.stage == "dynamo" and not g.discarded}
    without = set(found.compile_ids) - with_graph
    if not without:
        return []
    return [
        _Part(compilation.compile_id, frame.function, frame.line, None)
        for frame in frames
        if _can_hold(frame.function, SourceLocation(file=frame.file, line=frame.line), found)
        for compilation in frame.compilations
        if compilation.compile_id in without
    ]


def can_hold(graph: Graph, found: GraphBreak) -> bool:
    """Whether the break's line can be in the function, or rest of a function, of a graph.

    Several functions of a file can have one name, such as ``forward``: the one that begins last
    before the line is the one that holds it.
    """
    return graph.source is not None and _can_hold(graph.function, graph.source, found)


def _can_hold(function: str, place: SourceLocation, found: GraphBreak) -> bool:
    if place.file != found.file or place.line > found.line:
        return False
    return function == found.function or f"_in_{found.function}_at_" in function
