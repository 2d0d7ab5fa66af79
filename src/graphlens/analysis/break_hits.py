"""How often the program ran through a graph break."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from graphlens.model import Frame, Graph, GraphBreak, SourceLocation, Unavailable

_RESUMED = "torch_dynamo_resume_in_"


@dataclass(frozen=True)
class _Part:
    """A compiled function, or rest of one, that a break was met in; with its graph, if any."""

    function: str
    place: SourceLocation
    hits: int | Unavailable | None


class _Parts:
    """What each compilation is about, with graphs where it has some."""

    def __init__(self, graphs: Iterable[Graph], frames: Iterable[Frame]) -> None:
        self.of: dict[str, list[_Part]] = defaultdict(list)  # by compile id
        self.begins: dict[tuple[str, str], set[int]] = defaultdict(set)
        for graph in graphs:
            if graph.stage == "dynamo" and not graph.discarded and graph.source is not None:
                self.add(graph.compile_id, _Part(graph.function, graph.source, graph.hits))
        with_graph = set(self.of)
        for frame in frames:
            place = SourceLocation(file=frame.file, line=frame.line)
            for compilation in frame.compilations:
                if compilation.compile_id not in with_graph:
                    self.add(compilation.compile_id, _Part(frame.function, place, None))

    def add(self, compile_id: str, part: _Part) -> None:
        self.of[compile_id].append(part)
        self.begins[part.place.file, part.function].add(part.place.line)

    def begin(self, file: str, function: str, line: int) -> tuple[str, str, int]:
        """A function by the line it begins at: the last one of that name before a line."""
        begins = self.begins.get((file, function), ())
        return file, function, max((first for first in begins if first <= line), default=0)


def with_all_hits(
    breaks: Iterable[GraphBreak], graphs: Sequence[Graph], frames: Sequence[Frame]
) -> tuple[GraphBreak, ...]:
    """The breaks with their hits.

    A break that splits is run through whenever a graph of the function it stands in, which ends
    at it, is run. Torch meets it once more for each caller it inlines that function into; the
    callers' graphs end there too, and are not counted again.

    Args:
        breaks: All of a run.
        graphs: All graphs.
        frames: All frames. They tell of compilations that have no graph, as no operator came
            before the break: calls that ran those were counted by nothing.
    """
    parts = _Parts(graphs, frames)
    return tuple(_with_hits(found, parts) for found in breaks)


def _with_hits(found: GraphBreak, parts: _Parts) -> GraphBreak:
    if found.consequence != "split":
        why = "the function runs eager, where calls are not counted"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    if found.rest_eager:
        why = (
            "the rest of the function runs eager from an earlier line on, where nothing is counted"
        )
        return msgspec.structs.replace(found, hits=Unavailable(why))
    if _calls_itself(found, parts):
        why = "the function calls itself, and its graphs end at the call as well as at this line"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    holding = _innermost(
        [
            part
            for compile_id in found.compile_ids
            for part in parts.of.get(compile_id, ())
            if _can_hold(part.function, part.place, found)
        ]
    )
    known = [part.hits for part in holding if isinstance(part.hits, int)]
    if not known:
        why = "no graph ends at this line, so nothing counts the calls"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    if any(part.hits is None for part in holding):
        why = "in some calls no graph ends at this line, so nothing counts those"
        return msgspec.structs.replace(found, hits=Unavailable(why))
    return msgspec.structs.replace(found, hits=sum(known))


def _calls_itself(found: GraphBreak, parts: _Parts) -> bool:
    """Whether the function with the break called itself on the way to it.

    Another one of the same name is another function: a module's ``forward`` calls those of others.
    """
    own = parts.begin(found.file, found.function, found.line)
    stack = [parts.begin(place.file, place.function, place.line) for place in found.stack]
    return stack.count(own) > 1


def _innermost(parts: Sequence[_Part]) -> list[_Part]:
    """The parts of the function that begins last before the break.

    Resumed functions of a caller that has the same name begin before the inner function does.
    """
    begun = [part.place.line for part in parts if not part.function.startswith(_RESUMED)]
    innermost = max(begun, default=0)
    return [part for part in parts if part.place.line >= innermost]


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
