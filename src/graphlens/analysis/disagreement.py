"""Why graphs by themselves and the whole program say different things about time."""

from collections.abc import Mapping, Sequence

from graphlens.model import Measured, StepParts, Timing

# A difference below this share of the step is no disagreement.
_SMALL = 0.2
_SLOWER_INSIDE = 1.5
_WORDS = {
    "guards": "guards and cache look-up",
    "between": "Python between the graphs",
    "eager": "functions that run eager",
    "rest": "what is outside of compiled functions",
}


def disagreement(
    step: StepParts, timings: Mapping[str, Sequence[Timing]], hits: Mapping[str, int]
) -> str:
    """What explains it, in a sentence or two; empty where both say the same.

    Args:
        step: The whole program.
        timings: Of its graphs by themselves, by compile id; eager first, then the backend.
        hits: How often a step runs each graph.
    """
    if not isinstance(step.eager, Measured):
        return ""
    alone: dict[str, tuple[float, float]] = {}
    for name, of_graph in timings.items():
        found = _medians(of_graph)
        if found is not None:
            alone[name] = found
    if not alone:
        return ""
    saved_alone = sum(hits.get(name, 1) * (eager - fast) for name, (eager, fast) in alone.items())
    saved = step.eager.median - step.seconds.median
    whole = step.seconds.median
    if abs(saved_alone - saved) <= _SMALL * whole:
        return ""
    said = (
        f"graphs by themselves save {_shown(saved_alone)} a step, and the whole program "
        f"{_shown(saved)}"
    )
    return f"{said}: {_why(step, alone, hits)}"


def _medians(timings: Sequence[Timing]) -> tuple[float, float] | None:
    for part in ("training", "inference", "forward"):
        for timing in timings:
            if timing.part != part or len(timing.candidates) < 2:
                continue
            eager, fast = (one.seconds for one in timing.candidates[:2])
            if isinstance(eager, Measured) and isinstance(fast, Measured):
                return eager.median, fast.median
    return None


def _why(step: StepParts, alone: Mapping[str, tuple[float, float]], hits: Mapping[str, int]) -> str:
    inside: dict[str, float] = {}
    outside: dict[str, float] = {}
    for part in step.parts:
        if part.what == "graph":
            name = part.graph.partition(" ")[0]
            inside[name] = inside.get(name, 0.0) + part.seconds.median
        else:
            outside[part.what] = outside.get(part.what, 0.0) + part.seconds.median
    slower = {
        name: inside[name] - hits.get(name, 1) * fast
        for name, (_, fast) in alone.items()
        if name in inside and inside[name] > _SLOWER_INSIDE * hits.get(name, 1) * fast
    }
    most = max(outside, key=lambda what: outside[what], default="")
    worst = max(slower, key=lambda name: slower[name], default="")
    if worst and slower[worst] > outside.get(most, 0.0):
        return (
            f"graph {worst} takes {_shown(slower[worst])} more inside of the program than alone, "
            "where its inputs and code stay in the processor's caches"
        )
    if most:
        return f"{_shown(outside[most])} of a step go to {_WORDS[most]}, which no graph has"
    return "the program's own calls differ from those that were timed"


def _shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
