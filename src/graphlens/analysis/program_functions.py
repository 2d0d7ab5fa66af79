"""The functions of a program with their parts: frames, graphs, breaks and recompiles, joined.

Torch compiles what follows a break as a function of its own; here it is the next part of the
user's function.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from graphlens.analysis.crossed_values import RESUMED, resumed_function
from graphlens.analysis.places import is_library
from graphlens.analysis.program_costs import Costs, saved_for
from graphlens.analysis.program_map_data import (
    Cost,
    MapBreak,
    MapFunction,
    Part,
    Variant,
    gives_up,
)
from graphlens.analysis.report_parts import breaks_of, recompiles_of
from graphlens.model import (
    Compilation,
    Frame,
    Graph,
    GraphBreak,
    Report,
    SourceLocation,
    Unavailable,
)

_Key = tuple[str, str, int]  # file, name and first line of a function
_WORST_FIRST = ("failed", "skipped", "recompile_limit", "compiled", "no_graph", "unfinished")
EAGER = ("failed", "skipped", "recompile_limit")


def all_frames(report: Report) -> tuple[Frame, ...]:
    """The frames, and of graphs without one what the graphs say of theirs."""
    known = {one.compile_id for frame in report.frames for one in frame.compilations}
    made: dict[tuple[str, str, int], dict[str, None]] = defaultdict(dict)
    for graph in report.graphs:
        if graph.compile_id not in known:
            place = graph.source or SourceLocation(file="", line=0)
            made[place.file, graph.function, place.line][graph.compile_id] = None
    return report.frames + tuple(
        Frame(
            id=next(iter(ids)).partition("/")[0],
            function=function,
            file=file,
            line=line,
            outcome="compiled",
            compilations=tuple(Compilation(compile_id=one, outcome="compiled") for one in ids),
        )
        for (file, function, line), ids in made.items()
    )


class FunctionsOfReport:
    """Joins frames, graphs, breaks and recompiles by compile id."""

    def __init__(self, report: Report, frames: Sequence[Frame], costs: Costs) -> None:
        self.report, self.frames, self.costs = report, frames, costs
        self.graphs: dict[str, list[Graph]] = defaultdict(list)
        for graph in report.graphs:
            if not graph.discarded:
                self.graphs[graph.compile_id].append(graph)
        self.breaks: dict[str, list[GraphBreak]] = defaultdict(list)
        for found in breaks_of(report):
            for compile_id in dict.fromkeys(found.compile_ids):
                self.breaks[compile_id].append(found)
        self.charged: set[tuple[str, int]] = set()
        self.recompiles = {one.compile_id: one for one in recompiles_of(report)}
        self.heads: dict[tuple[str, str], set[int]] = defaultdict(set)
        for frame in frames:
            if RESUMED.match(frame.function) is None:
                self.heads[frame.file, frame.function].add(frame.line)

    def functions(self) -> list[MapFunction]:
        grouped: dict[_Key, list[Frame]] = defaultdict(list)
        for frame in self.frames:
            grouped[self.key(frame.file, frame.function, frame.line)].append(frame)
        return [self.function(key, own) for key, own in grouped.items()]

    def key(self, file: str, function: str, line: int) -> _Key:
        """The function that a line is in: of those of its name the last that begins before it."""
        name = resumed_function(function)
        begun = [first for first in self.heads.get((file, name), ()) if first <= line]
        return file, name, max(begun, default=0)

    def function(self, key: _Key, frames: list[Frame]) -> MapFunction:
        file, name, line = key
        parts = tuple(_at_calls(list(self.parts(key, frames))))
        eager = self.costs.eager(self.uncharged((frame.file, frame.line) for frame in frames))
        if eager is not None:
            parts = _with_eager(parts, eager, self.costs.share(eager))
        return MapFunction(
            name=name,
            file=file,
            line=line or min(frame.line for frame in frames),
            outcome=min((frame.outcome for frame in frames), key=rank),
            frames=tuple(frames),
            parts=parts,
            library=is_library(file),
            operators=self.operators(key),
        )

    def operators(self, key: _Key) -> int | None:
        eager = self.report.eager
        if isinstance(eager, Unavailable):
            return None
        return sum(
            item.count
            for item in eager
            if self.key(item.place.file, item.place.function.rpartition(".")[2], item.place.line)
            == key
        )

    def parts(self, key: _Key, frames: list[Frame]) -> Iterator[Part]:
        """The function's beginning, then what follows each break, by line."""
        heads = [frame for frame in frames if RESUMED.match(frame.function) is None]
        rests = sorted((f for f in frames if f not in heads), key=lambda frame: frame.line)
        if heads:
            yield self.part(key, 0, heads)
        for line, own in groupby(rests, key=lambda frame: frame.line):
            for group in self.one_after_the_other(key, list(own)):
                yield self.part(key, line, group)

    def one_after_the_other(self, key: _Key, frames: list[Frame]) -> list[list[Frame]]:
        """Rests that begin at one line: sides of a branch; in turn where the line breaks again."""
        groups: list[list[Frame]] = []
        for frame in frames:
            before = self.met(key, groups[-1]) if groups else ()
            if groups and not any(one.own and one.line == frame.line for one in before):
                groups[-1].append(frame)
            else:
                groups.append([frame])
        return groups

    def part(self, key: _Key, line: int, frames: list[Frame]) -> Part:
        variants = [one for frame in frames for one in self.variants(frame)]
        breaks = tuple(self.with_cost(key, one) for one in self.met(key, frames))
        return Part(line=line, variants=tuple(variants), breaks=breaks)

    def with_cost(self, key: _Key, one: MapBreak) -> MapBreak:
        """A break with what is charged to its line, where that is this function's."""
        found = one.found
        if self.key(found.file, found.function, found.line) != key:
            return one
        lines = self.uncharged([(found.file, found.line)])
        step = self.costs.outside(lines)
        return replace(one, step=step, share=self.costs.share(step))

    def uncharged(self, lines: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Of lines those that nothing on the map has the time of yet."""
        found = set(lines) - self.charged
        self.charged |= found
        return found

    def variants(self, frame: Frame) -> Iterator[Variant]:
        if not frame.compilations:
            yield Variant(compile_id="", outcome=frame.outcome, reason=frame.reason)
        for one in frame.compilations:
            graphs = self.graphs.get(one.compile_id, [])
            captured = [graph for graph in graphs if graph.stage == "dynamo"]
            captured = captured or [g for g in graphs if g.stage != "backward"][:1]
            backward = tuple(graph for graph in graphs if graph.stage == "backward")
            yield Variant(
                compile_id=one.compile_id,
                outcome=one.outcome,
                reason=one.reason or (frame.reason if one.outcome == frame.outcome else ""),
                compilation=one,
                recompile=self.recompiles.get(one.compile_id),
                graphs=tuple(captured),
                backward=backward,
                saved=saved_for(backward),
                cost=self.costs.of_graphs(one.compile_id, captured, "forward"),
                backward_cost=self.costs.of_graphs(one.compile_id, captured, "backward"),
            )

    def met(self, key: _Key, frames: Sequence[Frame]) -> tuple[MapBreak, ...]:
        """The breaks that end a part, by line."""
        ids = [one.compile_id for frame in frames for one in frame.compilations]
        by_identity = {id(found): found for name in ids for found in self.breaks.get(name, ())}
        return tuple(
            sorted(
                (self.map_break(key, found, ids) for found in by_identity.values()),
                key=lambda one: one.line,
            )
        )

    def map_break(self, key: _Key, found: GraphBreak, ids: list[str]) -> MapBreak:
        own = self.key(found.file, found.function, found.line) == key
        stack = [at for at in found.stack if self.key(at.file, at.function, at.line) == key]
        line, code = (stack[-1].line, stack[-1].code) if stack else (0, "")
        only = tuple(one for one in ids if one in found.compile_ids)
        return MapBreak(
            found=found,
            line=found.line if own else line,
            code=found.code if own else code,
            own=own or bool(stack and stack[-1] is found.stack[-1]),
            only=() if len(only) == len(ids) else only,
        )


def _at_calls(parts: list[Part]) -> Iterator[Part]:
    """Parts whose breaks in a call have the line of it: what follows resumes there."""
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        if after is None:
            yield part
            continue
        breaks = [
            one if one.own or one.line == after.line else replace(one, line=after.line, code="")
            for one in part.breaks
        ]
        yield replace(part, breaks=tuple(breaks))


def _with_eager(parts: tuple[Part, ...], step: float, share: float) -> tuple[Part, ...]:
    """Parts with what a function takes in eager, charged to the first thing in it that runs so."""
    for number, part in enumerate(parts):
        changed = _first_eager(part, step, share)
        if changed is not None:
            return (*parts[:number], changed, *parts[number + 1 :])
    return parts


def _first_eager(part: Part, step: float, share: float) -> Part | None:
    for at, found in enumerate(part.breaks):
        if gives_up(found) and found.step is None:
            charged = replace(found, step=step, share=share)
            return replace(part, breaks=(*part.breaks[:at], charged, *part.breaks[at + 1 :]))
    for at, variant in enumerate(part.variants):
        if variant.outcome in EAGER:
            eager = replace(variant, cost=Cost(step=step, share=share))
            return replace(part, variants=(*part.variants[:at], eager, *part.variants[at + 1 :]))
    return None


def rank(outcome: str) -> int:
    """Of an outcome of a frame: the worst is 0."""
    return _WORST_FIRST.index(outcome) if outcome in _WORST_FIRST else len(_WORST_FIRST)
