"""Measured times by what they belong to on the map of a program, and what is saved for backward."""

from collections.abc import Sequence

from graphlens.analysis.program_map_data import Cost, Saved
from graphlens.analysis.tensor_bytes import tensor_bytes
from graphlens.model import (
    CandidateTiming,
    Graph,
    Measured,
    Report,
    StepPart,
    StepParts,
    Timing,
    Unavailable,
)

# Kept whether or not there is a backward, or no memory of the forward's.
_NOT_SAVED = frozenset({"tangent", "parameter", "buffer", "symbol", "constant"})
_FORWARD = ("forward", "inference")


class Costs:
    """Times of a report.

    Args:
        report: Of ``compare``; any other has none.
    """

    def __init__(self, report: Report) -> None:
        step = report.step if isinstance(report.step, StepParts) else None
        self.step = step.seconds.median if step else None
        self._parts: tuple[StepPart, ...] = step.parts if step else ()
        self._of_graph = {part.graph: part for part in self._parts if part.graph}
        self._isolated: dict[tuple[str, str], Timing] = {}
        listed = () if isinstance(report.timings, Unavailable) else report.timings
        own = [graph.timing for graph in report.graphs if isinstance(graph.timing, Timing)]
        for timing in (*listed, *own):
            part = "forward" if timing.part in _FORWARD else timing.part
            self._isolated.setdefault((timing.graph, part), timing)

    def share(self, seconds: float | None) -> float:
        """Of a step, from 0 to 1; 0 where that is not known."""
        if not seconds or not self.step or self.step <= 0:
            return 0.0
        return min(seconds / self.step, 1.0)

    def of_graphs(self, compile_id: str, graphs: Sequence[Graph], part: str) -> Cost:
        """What the graphs of a compilation take, or their backward passes."""
        step = self._of_graph.get(f"{compile_id} {part}")
        timings = [self._isolated.get((graph.id, part)) for graph in graphs]
        compiled = [found for timing in timings if (found := _compiled(timing))]
        # A sum with a missing part would look like a measured whole.
        whole = bool(compiled) and len(compiled) == len(graphs)
        ratios = [one.speedup for one in compiled]
        seconds = step.seconds.median if step else None
        return Cost(
            call=sum(_median(one) for one in compiled) if whole else None,
            step=seconds,
            share=self.share(seconds),
            speedup=ratios[0] if len(ratios) == 1 and isinstance(ratios[0], Measured) else None,
        )

    def outside(self, lines: set[tuple[str, int]]) -> float | None:
        """Seconds of a step outside of graphs that are charged to the lines of breaks."""
        return self._at(("between", "eager"), lines)

    def eager(self, lines: set[tuple[str, int]]) -> float | None:
        """Seconds of a step in functions that run eager, by their first lines."""
        return self._at(("eager",), lines)

    def elsewhere(self, known: set[tuple[str, int]]) -> tuple[tuple[str, float], ...]:
        """What of a step is charged to no graph and to no line that is known."""
        found: dict[str, float] = {}
        for part in self._parts:
            place = (part.place.file, part.place.line) if part.place else None
            if part.what != "graph" and (place is None or place not in known):
                found[part.what] = found.get(part.what, 0.0) + part.seconds.median
        return tuple(found.items())

    def _at(self, what: tuple[str, ...], lines: set[tuple[str, int]]) -> float | None:
        found = [
            part.seconds.median
            for part in self._parts
            if part.what in what and part.place and (part.place.file, part.place.line) in lines
        ]
        return sum(found) if found else None


def saved_for(backward: Sequence[Graph]) -> Saved | None:
    """What the forward keeps for backward graphs; None where there are none."""
    if not backward:
        return None
    kept = [
        spec
        for graph in backward
        for node in graph.nodes
        if node.op == "placeholder" and node.role not in _NOT_SAVED
        for spec in node.tensors
    ]
    sizes = [tensor_bytes(spec) for spec in kept]
    known = [size for size in sizes if size is not None]
    unknown = Unavailable("a size is symbolic, or the width of a dtype is not known")
    return Saved(values=len(kept), bytes=sum(known) if len(known) == len(sizes) else unknown)


def _compiled(timing: Timing | None) -> CandidateTiming | None:
    """What is measured against the first candidate: the program as it was compiled."""
    if timing is None or len(timing.candidates) < 2:
        return None
    found = timing.candidates[1]
    return None if isinstance(found.seconds, Unavailable) else found


def _median(one: CandidateTiming) -> float:
    return 0.0 if isinstance(one.seconds, Unavailable) else one.seconds.median
