"""What the map of a program says, in the same words in the picture and in the terminal."""

from collections.abc import Collection, Iterable, Iterator

from graphlens.analysis.program_map_data import (
    Cost,
    MapFunction,
    ProgramMap,
    Saved,
    Variant,
)
from graphlens.model import Measured, Recompile, Report, SourceLocation, StepParts, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.headline import headline, unknowns
from graphlens.renderers.measures import (
    direction,
    duration,
    percent,
    ratio,
    size_of_memory,
    speedup,
)
from graphlens.renderers.wording import counted, first_sentence, seconds

NOTHING = "Nothing was compiled"
OUTCOMES = {
    "compiled": "compiled",
    "failed": "failed",
    "skipped": "runs eager",
    "recompile_limit": "recompile limit reached",
    "no_graph": "nothing to compile",
    "unfinished": "not finished",
}
_ELSEWHERE = {
    "guards": "guards and cache look-up",
    "between": "Python between graphs",
    "eager": "functions that run eager",
    "rest": "the rest of the program",
}


def outcome_words(outcome: str) -> str:
    """What became of a function or compilation."""
    return OUTCOMES.get(outcome, one_line(outcome))


def map_facts(of: ProgramMap, report: Report) -> Iterator[str]:
    """What is said of the whole program, a line each."""
    if not (of.functions or of.others):
        yield f"{NOTHING}: call the compiled function at least once before asking for the report."
    else:
        yield headline(report)
    for name, reason in unknowns(report):
        yield f"{name} unknown: {reason}"
    if isinstance(report.step, StepParts):
        step = report.step
        text = f"A step takes {duration(step.seconds.median)}"
        if not isinstance(step.eager, Unavailable):
            text += f" compiled, {duration(step.eager.median)} in eager"
        if isinstance(step.speedup, Measured):
            text += f": {speedup(step.speedup)}"
        yield text
        outside = [f"{_ELSEWHERE.get(what, what)} {duration(one)}" for what, one in of.elsewhere]
        if outside:
            yield f"Outside of what is shown: {', '.join(outside)}"


def function_counts(one: MapFunction) -> str:
    """Graphs, breaks and recompiles of a function, and how long torch compiled it."""
    parts = [counted(one.graphs, "graph")] if one.graphs else []
    parts += [counted(one.breaks, "break")] if one.breaks else []
    parts += [counted(one.recompiles, "recompile")] if one.recompiles else []
    variants = [variant for part in one.parts for variant in part.variants]
    times = [v.compilation.seconds if v.compilation else Unavailable("") for v in variants]
    known = [time for time in times if not isinstance(time, Unavailable)]
    if known and len(known) == len(times) and len(times) > 1:
        parts.append(f"compiled in {seconds(sum(known))}")
    if one.operators:
        parts.append(f"{counted(one.operators, 'operator')} outside of graphs")
    return ", ".join(parts)


def caller(one: MapFunction, known: Collection[tuple[str, str]]) -> SourceLocation | None:
    """The line that called a function first, where that is in another one on the map."""
    for frame in one.frames:
        for compilation in frame.compilations[:1]:
            at = compilation.called_from
            if at and (at.file, at.function) in known and at.function != one.name:
                return at
    return None


def variant_name(one: Variant, has_break: bool) -> str:
    """A compilation by its id, and what became of it where that is no graph.

    Args:
        one: The compilation.
        has_break: Whether a break follows.
    """
    if one.graphs or one.outcome == "compiled":
        return one_line(f"graph {one.compile_id}")
    what = outcome_words("skipped" if one.outcome == "recompile_limit" else one.outcome)
    if one.outcome == "no_graph" and has_break:
        what = "no operator before the break"
    return one_line(": ".join(filter(None, [one.compile_id, what])))


def graph_facts(one: Variant) -> str:
    """Operators and compile time of a compilation."""
    parts = []
    if len(one.graphs) > 1:
        parts.append(counted(len(one.graphs), "graph"))
    operators = one.compilation.operators if one.compilation else Unavailable("")
    if one.graphs:
        parts.append(counted(sum(len(graph.operators) for graph in one.graphs), "operator"))
    elif one.outcome == "compiled" and not isinstance(operators, Unavailable):
        parts.append(counted(operators, "operator"))
    parts += [text for text in (compile_time(one),) if text]
    if any(graph.cached for graph in one.graphs):
        parts.append("from a cache")
    return ", ".join(parts)


def compile_time(one: Variant) -> str:
    """How long torch took for a compilation; empty where it is not known."""
    time = one.compilation.seconds if one.compilation else Unavailable("")
    if not isinstance(time, Unavailable):
        return f"{'compiled' if one.outcome == 'compiled' else 'looked at'} in {seconds(time)}"
    times = [graph.compile_seconds for graph in one.graphs]
    known = [time for time in times if not isinstance(time, Unavailable)]
    if known and len(known) == len(times):
        return f"backend took {seconds(sum(known))}"
    return ""


def hits_words(values: Iterable[int | Unavailable], most: bool = False) -> str:
    """How often something ran; empty where nothing counted it."""
    known = [value for value in values if not isinstance(value, Unavailable)]
    if not known:
        return ""
    return counted(max(known) if most else known[0], "hit")


def cost_words(cost: Cost) -> str:
    """Measured time; empty where there is none."""
    if cost.step is not None:
        text = f"{duration(cost.step)} a step"
        text += f", {percent(cost.share)}" if cost.share else ""
    elif cost.call is not None:
        text = f"{duration(cost.call)} a call"
    else:
        return ""
    return text


def speed_words(cost: Cost) -> str:
    """How a graph compares with eager, by itself; empty where that was not timed."""
    if cost.speedup is None:
        return ""
    word = direction(cost.speedup)
    if word == "unclear":
        return "by itself no faster or slower than eager"
    comma = "" if word == "faster" else ","
    return f"by itself {ratio(cost.speedup.median)}{comma} {word} than eager"


def saved_words(saved: Saved | None) -> tuple[str, ...]:
    """What a forward keeps for its backward, in lines of a few letters."""
    if saved is None:
        return ()
    if not saved.values:
        return ("saves nothing",)
    values = f"saves {counted(saved.values, 'value')}"
    if isinstance(saved.bytes, Unavailable):
        return (values,)
    return (values, size_of_memory(saved.bytes))


def problems(one: Variant) -> Iterator[str]:
    """What is wrong with a compilation's graphs."""
    for graph in one.graphs:
        if graph.failure:
            yield f"backend failed: {first_sentence(graph.failure.error)}"
        if not isinstance(graph.accuracy, Unavailable) and graph.accuracy.verdict == "diverges":
            yield "gives other results than eager"


def why_recompiled(one: Recompile) -> tuple[str, str]:
    """What was different when a function was compiled again, and from what to what."""
    for change in one.differences[:1]:
        more = len(one.differences) - 1
        values = _change(change.before, change.after)
        others = f"and {more} more" if more else ""
        return one_line(change.subject.replace("`", "")), one_line(
            ", ".join(filter(None, [values, others]))
        )
    for cause in one.causes[:1]:
        subject = cause.subject or cause.source
        if subject and (cause.expected or cause.actual):
            return one_line(subject.replace("`", "")), one_line(
                _change(cause.expected, cause.actual)
            )
        return one_line(cause.guard), "no longer holds"
    return "no guard was named", ""


def _change(before: str, after: str) -> str:
    if before and after:
        return f"changed: {before} → {after}"
    if before:
        return f"no longer {before}"
    return f"now {after}" if after else "changed"
