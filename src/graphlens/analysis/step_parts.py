"""A step of the real program, split into what runs in it, from the times at which graphs ran.

The parts of a round are the runs of graphs and what is between them, so they add up to the step.
What is between two graphs is charged to the break that ended the first, or to the function that
runs eager around both. Guards are timed in a round of their own, under a profiler, and taken out
of what they lie in.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from graphlens.analysis.break_hits import can_hold
from graphlens.analysis.intervals import measured
from graphlens.analysis.report_parts import breaks_of
from graphlens.model import (
    Frame,
    Graph,
    GraphBreak,
    Measured,
    Report,
    SourceLocation,
    StepPart,
)

_RESUMED = "torch_dynamo_resume_in_"

Function = tuple[str, int]  # a code object's file and first line
Gap = tuple[str, str]  # what ran before and after, as graph and part; empty at the ends


@dataclass
class Visit:
    """One run of a graph, or of its backward pass.

    Attributes:
        graph: Its compile id.
        part: ``forward`` or ``backward``.
        start: In seconds, of a clock that only counts.
        end: The same.
        stack: Functions under way, outermost first; only where it was asked for.
    """

    graph: str
    part: str
    start: float
    end: float = 0.0
    stack: tuple[Function, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.graph} {self.part}"


@dataclass(frozen=True)
class Round:
    """One step.

    Attributes:
        start: Before it.
        end: After it.
        visits: In order.
    """

    start: float
    end: float
    visits: tuple[Visit, ...]


@dataclass(frozen=True)
class Owner:
    """Who a gap is charged to."""

    what: str
    place: SourceLocation | None = None


def split_rounds(
    rounds: Sequence[Round], guards: Mapping[Gap, float], owners: Mapping[Gap, Owner]
) -> tuple[StepPart, ...]:
    """The parts of a step, longest first.

    Args:
        rounds: Timed steps.
        guards: Seconds of guards and cache look-up in each gap of one step.
        owners: Who each gap is charged to; ``rest`` where it is not there.
    """
    seconds: dict[tuple[str, str, Owner], list[float]] = defaultdict(lambda: [0.0] * len(rounds))
    runs: dict[tuple[str, str, Owner], int] = defaultdict(int)
    for number, one in enumerate(rounds):
        for visit in one.visits:
            key = ("graph", visit.name, Owner("graph"))
            seconds[key][number] += visit.end - visit.start
            runs[key] += 1
        for gap, length, count in _gaps(one):
            in_guards = min(length, guards.get(gap, 0.0) * count)
            owner = owners.get(gap, Owner("rest"))
            seconds["guards", "", Owner("guards")][number] += in_guards
            seconds[owner.what, "", owner][number] += length - in_guards
            runs[owner.what, "", owner] += count
    middle = _middle(rounds)
    parts = [
        StepPart(
            what=what,
            seconds=_typical(times, middle),
            graph=graph,
            place=owner.place,
            runs=max(1, round(runs[what, graph, owner] / len(rounds))),
        )
        for (what, graph, owner), times in seconds.items()
        if any(times)
    ]
    return tuple(sorted(parts, key=lambda part: (-part.seconds.median, part.what, part.graph)))


def total(rounds: Sequence[Round]) -> Measured:
    """The whole step, in the same rounds as its parts."""
    return _typical([one.end - one.start for one in rounds], _middle(rounds))


def _middle(rounds: Sequence[Round]) -> list[int]:
    """The middle half of the rounds, by their length."""
    by_length = sorted(range(len(rounds)), key=lambda n: rounds[n].end - rounds[n].start)
    cut = len(rounds) // 4
    return by_length[cut : len(rounds) - cut]


def _typical(times: Sequence[float], middle: Sequence[int]) -> Measured:
    """The interval of the median, around the mean of the rounds of typical length.

    Medians of parts do not add up where each part is slow in another round; these means do.
    """
    found = measured(times)
    mean = math.fsum(times[number] for number in middle) / len(middle)
    return msgspec.structs.replace(
        found, median=mean, low=min(found.low, mean), high=max(found.high, mean)
    )


def _gaps(one: Round) -> list[tuple[Gap, float, int]]:
    """What lies between the visits of a round: which, how long together, and how many."""
    length: dict[Gap, float] = defaultdict(float)
    count: dict[Gap, int] = defaultdict(int)
    for gap, start, end in gaps(one):
        length[gap] += end - start
        count[gap] += 1
    return [(gap, length[gap], count[gap]) for gap in length]


def gaps(one: Round) -> list[tuple[Gap, float, float]]:
    """Each time between visits, in order, with its start and end."""
    found: list[tuple[Gap, float, float]] = []
    name, at = "", one.start
    for visit in one.visits:
        found.append(((name, visit.name), at, visit.start))
        name, at = visit.name, visit.end
    found.append(((name, ""), at, one.end))
    return found


def gap_owners(one: Round, report: Report) -> dict[Gap, Owner]:
    """Who each gap is charged to.

    Args:
        one: A round whose visits have stacks.
        report: With the breaks, graphs and frames of the same run.
    """
    skipped = {
        (frame.file, frame.line): frame
        for frame in report.frames
        if frame.outcome in ("skipped", "recompile_limit")
    }
    graphs = {graph.compile_id: graph for graph in report.graphs if graph.stage == "dynamo"}
    ended = {name: _ending(graph, breaks_of(report)) for name, graph in graphs.items()}
    owners: dict[Gap, Owner] = {}
    visits = one.visits
    if not visits:
        frame = next(iter(skipped.values()), None)
        place = _of_frame(frame, breaks_of(report)) if frame else None
        return {("", ""): Owner("eager", place)}
    for number in range(len(visits) + 1):
        before = visits[number - 1] if number else None
        after = visits[number] if number < len(visits) else None
        gap = (before.name if before else "", after.name if after else "")
        if gap not in owners:
            owners[gap] = _owner(before, after, ended, skipped, breaks_of(report))
    return owners


def _owner(
    before: Visit | None,
    after: Visit | None,
    ended: Mapping[str, GraphBreak | None],
    skipped: Mapping[Function, Frame],
    breaks: Sequence[GraphBreak],
) -> Owner:
    if "backward" in (before.part if before else "", after.part if after else ""):
        return Owner("rest")
    found = ended.get(before.graph) if before else None
    if found is not None:
        eager = found.consequence == "frame_skipped" or found.rest_eager
        return Owner("eager" if eager else "between", _place(found))
    for function in reversed(_common(before, after)):
        if function in skipped:
            return Owner("eager", _of_frame(skipped[function], breaks))
    rest = _rest_that_runs_eager(before, skipped) if before else None
    return Owner("eager", _of_frame(rest, breaks)) if rest else Owner("rest")


def _rest_that_runs_eager(before: Visit, skipped: Mapping[Function, Frame]) -> Frame | None:
    """The rest of the function whose graph has ended, where torch gave up on that."""
    file, line = before.stack[-1] if before.stack else ("", 0)
    for frame in skipped.values():
        if frame.file == file and frame.line >= line and frame.function.startswith(_RESUMED):
            return frame
    return None


def _common(before: Visit | None, after: Visit | None) -> list[Function]:
    """Functions under way all through a gap."""
    if before is None or after is None:
        known = before or after
        return list(known.stack[:-1]) if known else []
    same: list[Function] = []
    for one, two in zip(before.stack, after.stack, strict=False):
        if one != two:
            break
        same.append(one)
    return same


def _ending(graph: Graph, breaks: Sequence[GraphBreak]) -> GraphBreak | None:
    """The break that a graph ends with; None where it ends with the function's return."""
    if not graph.ended_by:
        return None
    met = [one for one in breaks if graph.compile_id in one.compile_ids]
    own = [one for one in met if can_hold(graph, one)] or met
    return min(own, key=lambda one: one.line) if own else None


def _of_frame(frame: Frame, breaks: Sequence[GraphBreak]) -> SourceLocation:
    """The break for which a function runs eager, or its first line."""
    ids = {one.compile_id for one in frame.compilations}
    for one in breaks:
        if one.consequence == "frame_skipped" and ids & set(one.compile_ids):
            return _place(one)
    return SourceLocation(file=frame.file, line=frame.line, function=frame.function)


def _place(found: GraphBreak) -> SourceLocation:
    return SourceLocation(
        file=found.file, line=found.line, function=found.function, code=found.code
    )
