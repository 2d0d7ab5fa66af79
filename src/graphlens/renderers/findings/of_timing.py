"""What a comparison's times say: graphs that are slower compiled, and a program that never pays."""

from collections.abc import Iterator

from graphlens.model import (
    CandidateTiming,
    Graph,
    Measured,
    Payback,
    Report,
    SourceLocation,
    StepParts,
    Timing,
    Unavailable,
)
from graphlens.renderers.comparison import saving, timings_of
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings.finding import NEVER_PAYS, SLOWER, CodeLine, Finding
from graphlens.renderers.measures import duration, duration_with_interval, speedup
from graphlens.renderers.wording import location_text


def charged(report: Report) -> dict[tuple[str, int], float]:
    """Seconds of a step that are charged to a line: the break or eager function that causes them.

    Empty where no timed run was made.
    """
    found: dict[tuple[str, int], float] = {}
    if isinstance(report.step, StepParts):
        for part in report.step.parts:
            if part.place is not None and part.what != "graph":
                key = (part.place.file, part.place.line)
                found[key] = found.get(key, 0.0) + part.seconds.median
    return found


def a_step(seconds: float) -> str:
    """A cost in seconds of a step, in words."""
    return f"{duration(seconds)} a step"


def of_timing(report: Report, root: str) -> Iterator[Finding]:
    """Graphs that are slower compiled, and the program where it never pays."""
    by_graph: dict[str, list[tuple[Timing, Graph]]] = {}
    for timing, graph in timings_of(report):
        if graph is not None and timing.verdict == "slower" and len(timing.candidates) > 1:
            by_graph.setdefault(graph.compile_id, []).append((timing, graph))
    step = report.step
    parts = step.parts if isinstance(step, StepParts) else ()
    runs = {part.graph: part.runs for part in parts if part.graph}
    for group in by_graph.values():
        yield _slower(group, runs, root)
    if isinstance(report.payback, Payback) and report.payback.never:
        yield _never(report, report.payback, root)


def _slower(group: list[tuple[Timing, Graph]], runs: dict[str, int], root: str) -> Finding:
    graph = group[0][1]
    lost = 0.0
    why, better = [], []
    for timing, each in group:
        base, compiled = timing.candidates[:2]
        if isinstance(compiled.speedup, Measured):
            why.append(
                f"{timing.part}: {compiled.candidate} takes {_time(compiled)}, {base.candidate} "
                f"{_time(base)}: {speedup(compiled.speedup)}."
            )
        lost += _lost(base, compiled) * (_runs(runs, timing, each) or 1)
        better += _better(timing)
    known = any(_runs(runs, timing, each) for timing, each in group)
    where = graph.source or SourceLocation(file="", line=0)
    function = f" ({graph.function})" if graph.function else ""
    return Finding(
        kind=SLOWER,
        title=one_line(f"graph {graph.compile_id}{function} takes longer compiled than in eager"),
        place=location_text(where, root) if where.file else f"graph {one_line(graph.compile_id)}",
        line=where.line,
        function=one_line(graph.function),
        code=(CodeLine(where.line, one_line(where.code)),) if where.code else (),
        why=tuple(map(one_line, why)),
        cost=a_step(lost) if known else f"{duration(lost)} a run",
        seconds=lost,
        weight=lost,
        advice=tuple(dict.fromkeys(map(one_line, better))),
        facts=(("operators", f"{len(graph.operators):,}"),),
    )


def _runs(runs: dict[str, int], timing: Timing, graph: Graph) -> int:
    """How often a step runs a graph or its backward pass; 0 where that is not known."""
    part = "backward" if timing.part == "backward" else "forward"
    return runs.get(f"{graph.compile_id} {part}", runs.get(graph.id, 0))


def _time(candidate: CandidateTiming) -> str:
    seconds = candidate.seconds
    return "?" if isinstance(seconds, Unavailable) else duration_with_interval(seconds)


def _lost(base: CandidateTiming, compiled: CandidateTiming) -> float:
    if isinstance(base.seconds, Unavailable) or isinstance(compiled.seconds, Unavailable):
        return 0.0
    return max(compiled.seconds.median - base.seconds.median, 0.0)


def _better(timing: Timing) -> list[str]:
    """The fastest of the other candidates, where it is faster for certain."""
    faster = [
        (one.speedup.median, one)
        for one in timing.candidates[2:]
        if isinstance(one.speedup, Measured) and one.speedup.low > 1
    ]
    if not faster:
        return []
    _, best = max(faster, key=lambda pair: pair[0])
    assert isinstance(best.speedup, Measured)  # noqa: S101
    return [f"Of the candidates `{best.candidate}` does better: {speedup(best.speedup)}."]


def _never(report: Report, payback: Payback, root: str) -> Finding:
    first = next((graph for graph in report.graphs if graph.source), None)
    where = first.source if first and first.source else SourceLocation(file="", line=0)
    facts = []
    for name, phases in (("cold", payback.cold), ("warm", payback.warm)):
        if not isinstance(phases, Unavailable):
            total = duration(sum(phase.seconds for phase in phases))
            facts.append((f"{name} compilation", total))
    step = report.step
    if isinstance(step, StepParts) and step.parts:
        longest = step.parts[0]
        facts.append(("most of a step", f"{_part(longest.what)}, {a_step(longest.seconds.median)}"))
    return Finding(
        kind=NEVER_PAYS,
        title="compiling the program costs more than it saves, however often it is called",
        place=location_text(where, root) if where.file else "the whole program",
        line=where.line,
        function=one_line(first.function) if first else "",
        why=tuple(map(one_line, _never_reasons(report, payback))),
        facts=tuple(facts),
    )


def _part(what: str) -> str:
    names = {"guards": "guards and cache look-up", "between": "Python between graphs",
             "eager": "functions that run eager", "graph": "the graphs"}  # fmt: skip
    return names.get(what, what)


def _never_reasons(report: Report, payback: Payback) -> Iterator[str]:
    if isinstance(payback.saved, Measured):
        text = saving(payback.saved)
        yield f"{text[0].upper()}{text[1:]} compiled."
    step = report.step
    if isinstance(step, StepParts) and isinstance(step.speedup, Measured):
        yield f"End to end: {speedup(step.speedup)}."
