"""What a comparison gave, as sentences and rows of text: the same for every format."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from graphlens.analysis.payback import epochs
from graphlens.analysis.report_parts import compared_graphs
from graphlens.model import (
    NOT_COMPARED,
    NOT_TIMED,
    Accuracy,
    CandidateTiming,
    Graph,
    Measured,
    Payback,
    Report,
    StepPart,
    StepParts,
    Timing,
    Unavailable,
)
from graphlens.renderers.escape import one_line
from graphlens.renderers.measures import (
    duration,
    duration_with_interval,
    error_with_holes,
    number_of_calls,
    percent,
    shares,
    size_of_memory,
    speedup,
)
from graphlens.renderers.preview_facts import preview_facts
from graphlens.renderers.slowest_kernels import kernel_gaps
from graphlens.renderers.wording import counted, location_text

PROGRAM = "program"
UNKNOWN = "?"
ACCURACY_COLUMNS = (
    "graph", "function", "place", "ops", "hits", "verdict", "tensors", "eager error",
    "compiled error", "remarks",
)  # fmt: skip
TIMING_COLUMNS = ("graph", "function", "candidate", "time", "speed-up", "peak memory")
STEP_COLUMNS = ("what", "share", "time", "runs")
COMPILE_COLUMNS = ("phase", "cold", "warm")
NUMBERS = frozenset(
    {"ops", "hits", "tensors", "eager error", "compiled error", "share", "runs", "cold", "warm",
     "peak memory"}
)  # fmt: skip
VERDICTS = {
    "agrees": "compiled code gives what eager gives",
    "rounding": "compiled code differs from eager by rounding only",
    "precision_changed": "compiled code rounds where the program does not ask for it, or the "
    "other way round",
    "diverges": "compiled code gives other results than eager",
    "not_comparable": "not comparable",
}
_PLURALS = {"agrees": "agree", "diverges": "diverge"}
ERROR_COLUMNS = "Errors: largest absolute difference from the reference, of the worst tensor."
_WHAT = {
    "guards": "guards and cache look-up",
    "between": "Python between graphs",
    "eager": "runs eager",
    "rest": "the rest",
}


@dataclass(frozen=True)
class Fact:
    """One statement on the whole program.

    Attributes:
        name: What it is about, in a word or two.
        text: The statement.
        state: ``good``, ``bad``, ``neutral`` or ``unknown``.
    """

    name: str
    text: str
    state: str = "neutral"


def has_comparison(report: Report) -> bool:
    """Whether anything was compared, timed or previewed, or could not be for its own reason."""
    parts = (report.timings, report.step, report.payback, report.accuracy)
    if report.target is not None:
        return True
    return any(part not in (NOT_TIMED, NOT_COMPARED) for part in parts) or any(
        graph.accuracy != NOT_COMPARED or graph.timing != NOT_TIMED for graph in report.graphs
    )


def facts(report: Report) -> list[Fact]:
    """Whether the program is right, is faster, and pays, and what a preview found of it."""
    if not has_comparison(report):
        return []
    found = [
        *(Fact(name, one_line(text)) for name, text in preview_facts(report)),
        _results(report),
        _speed(report.step),
        _payback(report.payback),
    ]
    step = report.step
    if isinstance(step, StepParts) and step.disagreement:
        found.append(Fact("alone and together", one_line(step.disagreement)))
    if isinstance(report.timings, Unavailable) and report.timings != NOT_TIMED:
        found.append(Fact("timings", one_line(report.timings.reason), "unknown"))
    return _merged([fact for fact in found if fact is not None])


def _merged(found: list[Fact]) -> list[Fact]:
    """What is missing for one reason is said once."""
    merged: dict[tuple[str, str], Fact] = {}
    for fact in found:
        key = (fact.text if fact.state == "unknown" else fact.name, fact.state)
        before = merged.get(key)
        name = f"{before.name}, {fact.name}" if before else fact.name
        merged[key] = Fact(name, fact.text, fact.state)
    return list(merged.values())


def _results(report: Report) -> Fact | None:
    counts = Counter(accuracy.verdict for _, accuracy in compared_graphs(report))
    each = ", ".join(
        f"{counts[name]:,} {_PLURALS.get(name, name) if counts[name] > 1 else name}"
        for name in (*VERDICTS, *(name for name in counts if name not in VERDICTS))
        if counts[name]
    )
    of_graphs = f"graphs: {verdict_in_words(each)}" if each else ""
    whole = report.accuracy
    if isinstance(whole, Unavailable):
        if whole != NOT_COMPARED:
            return Fact("results", one_line(whole.reason), "unknown")
        return Fact("results", of_graphs) if of_graphs else None
    state = {"diverges": "bad", "agrees": "good", "rounding": "good"}.get(whole.verdict, "neutral")
    basis = f"{counted(whole.calls, 'call')}, against {one_line(whole.reference)}"
    text = f"{VERDICTS.get(whole.verdict, one_line(whole.verdict))} ({basis})"
    if report.target is not None and whole.calls:
        text = f"run by Triton's interpreter on the CPU, {text}"
    elif report.target is not None:
        text = VERDICTS.get(whole.verdict, one_line(whole.verdict))
    if whole.reason:
        text += f": {one_line(whole.reason)}"
    return Fact("results", f"{text}; {of_graphs}" if of_graphs else text, state)


def _speed(step: StepParts | Unavailable) -> Fact | None:
    if isinstance(step, Unavailable):
        return None if step == NOT_TIMED else Fact("speed", one_line(step.reason), "unknown")
    compiled = f"{duration_with_interval(step.seconds)} a step compiled"
    if isinstance(step.eager, Unavailable):
        eager = f"eager not timed: {one_line(step.eager.reason)}"
    else:
        eager = f"{duration_with_interval(step.eager)} eager"
    if isinstance(step.speedup, Unavailable):
        reason = one_line(step.speedup.reason)
        return Fact("speed", f"{compiled}, {eager}; no speed-up: {reason}", "unknown")
    state = "good" if step.speedup.low > 1 else "bad" if step.speedup.high < 1 else "neutral"
    return Fact("speed", f"{speedup(step.speedup)} end to end: {compiled}, {eager}", state)


def _payback(payback: Payback | Unavailable) -> Fact | None:
    if isinstance(payback, Unavailable):
        return None if payback == NOT_TIMED else Fact("pays", one_line(payback.reason), "unknown")
    saved = payback.saved
    by = one_line(saved.reason) if isinstance(saved, Unavailable) else saving(saved)
    if payback.never:
        return Fact("pays", f"never: {by}", "bad")
    if isinstance(payback.calls, Unavailable):
        text = one_line(payback.calls.reason)
    else:
        text = f"after {_calls(payback.calls, payback)}"
    if not isinstance(payback.calls_warm, Unavailable):
        text += f"; with warm caches after {_calls(payback.calls_warm, payback)}"
    state = "unknown" if isinstance(payback.calls, Unavailable) else "neutral"
    return Fact("pays", text if text == by else f"{text}; {by}", state)


def _calls(calls: Measured, payback: Payback) -> str:
    text = number_of_calls(calls)
    if not payback.epoch_steps:
        return text
    times = epochs(calls, payback.epoch_steps).median
    return f"{text}, {times:.3g} epochs of {payback.epoch_steps:,}"


def saving(saved: Measured) -> str:
    """What a call saves or costs: ``a call saves 2.85 ms (2.52 to 3.21)``."""
    if saved.median >= 0:
        return f"a call saves {duration_with_interval(saved)}"
    lost = replace(saved, median=-saved.median, low=-saved.high, high=-saved.low)
    return f"a call takes {duration_with_interval(lost)} longer"


def verdict_in_words(verdict: str) -> str:
    """A verdict as it is shown."""
    return one_line(verdict.replace("_", " "))


def accuracy_rows(report: Report, root: str = "") -> list[dict[str, str]]:
    """A row for the whole program, then one a graph that was compared or could not be."""
    rows = []
    if report.accuracy != NOT_COMPARED:
        rows.append({"graph": PROGRAM, **_accuracy_cells(report.accuracy)})
    compared = [graph for graph in report.graphs if graph.accuracy != NOT_COMPARED]
    return [*rows, *(_graph_cells(g, root) | _accuracy_cells(g.accuracy) for g in compared)]


def _graph_cells(graph: Graph, root: str) -> dict[str, str]:
    hits = UNKNOWN if isinstance(graph.hits, Unavailable) else f"{graph.hits:,}"
    return {
        "graph": one_line(f"{graph.compile_id} {graph.stage}"),
        "function": one_line(graph.function),
        "place": one_line(location_text(graph.source, root)),
        "ops": f"{len(graph.operators):,}",
        "hits": hits,
    }


def _accuracy_cells(accuracy: Accuracy | Unavailable) -> dict[str, str]:
    if isinstance(accuracy, Unavailable):
        return {"verdict": UNKNOWN, "remarks": one_line(accuracy.reason)}
    # Other verdicts have a finding, which says why.
    silent = accuracy.verdict in ("agrees", "rounding")
    remarks = [accuracy.reason, *accuracy.remarks] if silent else []
    cells = {
        "verdict": verdict_in_words(accuracy.verdict),
        "tensors": f"{len(accuracy.tensors):,}" if accuracy.tensors else "",
        "remarks": one_line("; ".join(text for text in remarks if text)),
    }
    if accuracy.tensors:
        worst = accuracy.tensors[0]
        for name, errors in (("eager error", worst.eager), ("compiled error", worst.compiled)):
            cells[name] = UNKNOWN if isinstance(errors, Unavailable) else error_with_holes(errors)
    return cells


def timings_of(report: Report) -> list[tuple[Timing, Graph | None]]:
    """Every timing once, of the whole program first, each with its graph where that is known."""
    graphs = {graph.id: graph for graph in report.graphs}
    listed = () if isinstance(report.timings, Unavailable) else report.timings
    told = {(timing.graph, timing.part) for timing in listed}
    own = [
        graph.timing
        for graph in report.graphs
        if isinstance(graph.timing, Timing) and (graph.id, graph.timing.part) not in told
    ]
    return [(timing, graphs.get(timing.graph)) for timing in (*listed, *own)]


def timing_name(timing: Timing, graph: Graph | None) -> str:
    """Which graph and part of it was timed, such as ``0/0 backward``."""
    if not timing.graph:
        return PROGRAM if timing.part == "whole" else one_line(f"{PROGRAM} {timing.part}")
    name = graph.compile_id if graph else timing.graph
    return one_line(f"{name} {timing.part}")


def timing_rows(report: Report) -> list[dict[str, str]]:
    """A row a candidate; the graph is named in the first of its rows."""
    rows = []
    timings = timings_of(report)
    peaks = any(
        not isinstance(one.peak_bytes, Unavailable)
        for timing, _ in timings
        for one in timing.candidates
    )
    for timing, graph in timings:
        for number, candidate in enumerate(timing.candidates):
            first = number == 0
            rows.append(
                {
                    "graph": timing_name(timing, graph) if first else "",
                    "function": one_line(graph.function) if graph and first else "",
                    **_candidate_cells(candidate, first, peaks),
                }
            )
    return rows


def _candidate_cells(candidate: CandidateTiming, first: bool, peaks: bool) -> dict[str, str]:
    peak = candidate.peak_bytes
    unknown = UNKNOWN if peaks else ""
    return {
        "candidate": one_line(candidate.candidate),
        "time": (
            one_line(f"{UNKNOWN} ({candidate.seconds.reason})")
            if isinstance(candidate.seconds, Unavailable)
            else duration_with_interval(candidate.seconds)
        ),
        "speed-up": "" if first else _speedup_cell(candidate),
        "peak memory": unknown if isinstance(peak, Unavailable) else size_of_memory(peak),
    }


def _speedup_cell(candidate: CandidateTiming) -> str:
    if isinstance(candidate.speedup, Unavailable):
        return UNKNOWN
    return speedup(candidate.speedup)


def timing_conditions(report: Report) -> str:
    """Threads and warm-up of the timings, where they are known."""
    timings = [timing for timing, _ in timings_of(report)]
    threads = {one.threads for one in timings if not isinstance(one.threads, Unavailable)}
    parts = [counted(threads.pop(), "thread")] if len(threads) == 1 else []
    longest = max((one.warm_up for one in timings), default=0)
    if longest:
        parts.append(f"up to {counted(longest, 'run')} to warm up")
    brackets = "In brackets: the 95 % confidence interval"
    return f"{brackets}. {', '.join(parts)}." if parts else f"{brackets}."


def timing_gaps(report: Report) -> list[str]:
    """Why speed-ups, peak memory and kernels' times are missing, each reason once."""
    found: dict[str, None] = {}
    for timing, _ in timings_of(report):
        for number, one in enumerate(timing.candidates):
            timed = number > 0 and not isinstance(one.seconds, Unavailable)
            if timed and isinstance(one.speedup, Unavailable):
                found[f"? of a speed-up: {one_line(one.speedup.reason)}"] = None
            if isinstance(one.peak_bytes, Unavailable):
                found[f"Peak memory: {one_line(one.peak_bytes.reason)}"] = None
    return [*found, *kernel_gaps(report)]


def step_rows(step: StepParts, report: Report, root: str = "") -> list[dict[str, str]]:
    """Where a step's time goes, the longest first; shares are of the whole step."""
    parts = sorted(step.parts, key=lambda part: -part.seconds.median)
    texts = shares([part.seconds.median for part in parts], step.seconds.median)
    graphs = {graph.compile_id: graph for graph in report.graphs}
    return [
        {
            "share": share,
            "time": duration_with_interval(part.seconds),
            "runs": f"{part.runs:,}",
            "what": one_line(_what(part, graphs, root)),
        }
        for share, part in zip(texts, parts, strict=True)
    ]


def step_sum(step: StepParts) -> str:
    """What the parts add up to."""
    total = duration(sum(part.seconds.median for part in step.parts))
    return (
        f"The parts add up to {total}, {percent(step.covered)} of the measured "
        f"{duration(step.seconds.median)}."
    )


def _what(part: StepPart, graphs: dict[str, Graph], root: str) -> str:
    place = location_text(part.place, root)
    code = f": {part.place.code}" if part.place and part.place.code else ""
    if part.what == "graph":
        graph = graphs.get(part.graph.partition(" ")[0])
        function = f" ({graph.function})" if graph and graph.function else ""
        return f"graph {part.graph}{function}"
    name = _WHAT.get(part.what, part.what)
    if part.what == "eager" and part.place:
        function = f"{part.place.function} at " if part.place.function else ""
        return f"{function}{place} {name}"
    if part.what == "between" and place:
        return f"break at {place}, {name}{code}"
    return f"{name}, {place}{code}" if place else name


def compile_rows(payback: Payback) -> list[dict[str, str]]:
    """A row a phase of compilation, and their sum."""
    columns = {
        name: {phase.name: phase.seconds for phase in phases}
        for name, phases in (("cold", payback.cold), ("warm", payback.warm))
        if not isinstance(phases, Unavailable)
    }
    names = dict.fromkeys(phase for column in columns.values() for phase in column)
    rows = [
        {"phase": one_line(phase)}
        | {name: duration(column[phase]) for name, column in columns.items() if phase in column}
        for phase in names
    ]
    total = {name: duration(sum(column.values())) for name, column in columns.items()}
    return [*rows, {"phase": "in all", **total}] if rows else []


def compile_gaps(payback: Payback) -> Iterator[str]:
    """Why the phases of a cold or warm compilation are missing."""
    for name, phases in (("cold", payback.cold), ("warm", payback.warm)):
        if isinstance(phases, Unavailable):
            yield f"{name} compilation: {one_line(phases.reason)}"
