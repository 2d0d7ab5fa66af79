"""The whole program in eager and compiled, in turn, and where the time of a compiled step goes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from graphlens._torch.cache_lookups import lookups_between
from graphlens.analysis.intervals import verdict
from graphlens.analysis.step_parts import (
    Gap,
    Round,
    gap_owners,
    gaps,
    split_rounds,
    total,
)
from graphlens.checks.programs import Program, Wrap
from graphlens.checks.rounds import Progress, Runnable, TimedRounds, time_rounds
from graphlens.checks.watcher import Watcher
from graphlens.model import (
    CandidateTiming,
    Measured,
    Report,
    StepParts,
    Timing,
    Unavailable,
)

# Steps under the profiler: the first of them pays for starting it.
_PROFILED = 4
_MOST_ROUNDS = 300


@dataclass
class StepTiming:
    """What was measured of whole steps.

    Attributes:
        timed: Rounds of eager and compiled.
        rounds: Of compiled, with the runs of graphs in them.
        stacked: One step with the functions under way at each graph.
        guards: Seconds of guards and cache look-up, by what lies around them.
    """

    timed: TimedRounds
    rounds: list[Round] = field(default_factory=list)
    stacked: Round | None = None
    guards: Mapping[Gap, float] = field(default_factory=dict)

    def of_whole(self, backend: str) -> Timing:
        """The whole program as a timing, beside those of graphs."""
        speedup = self.timed.speedup(1)
        return Timing(
            graph="",
            part="whole",
            candidates=(
                CandidateTiming(
                    candidate="eager", seconds=self.timed.seconds(0), speedup=self.timed.speedup(0)
                ),
                CandidateTiming(candidate=backend, seconds=self.timed.seconds(1), speedup=speedup),
            ),
            verdict=verdict(speedup) if isinstance(speedup, Measured) else "unknown",
            threads=torch.get_num_threads(),
            warm_up=self.timed.warm_up,
        )


def time_step(
    program: Program, eager: Wrap, compiled: Wrap, watcher: Watcher, budget: float,
    share: float, progress: Progress,
) -> StepTiming:  # fmt: skip
    """Times whole steps; a step makes all calls of the program.

    Args:
        program: To run.
        eager: Gives the user's function as it is.
        compiled: Gives it compiled by the watcher's backend.
        watcher: Tells when graphs ran.
        budget: Seconds that the user gave for all timing.
        share: Of it, for this; more where that does not hold enough rounds, as the whole tells
            most.
        progress: Told what is going on.
    """
    watcher.timing = True
    rounds: list[Round] = []
    try:
        with program.timed(eager) as plain, program.timed(compiled) as fast:

            def step(_: object) -> None:
                watcher.visits = []
                start = time.perf_counter()
                fast()
                end = time.perf_counter()
                rounds.append(Round(start, end, tuple(watcher.visits)))

            timed = time_rounds(
                [Runnable("eager", (lambda _: plain(),)), Runnable(watcher.name, (step,))],
                budget * share,
                progress,
                most=budget,
            )
            series = timed.series[1]
            counted = len(series.rounds) * series.block
            kept = _evenly(rounds[len(rounds) - counted :])
            watcher.stacks = True
            guards = _guards(step, rounds) if kept else {}
        return StepTiming(timed, kept, rounds[-1] if rounds else None, guards)
    finally:
        watcher.timing = watcher.stacks = False


def _evenly(rounds: list[Round]) -> list[Round]:
    """Not all of a million short steps, but some from all over the time."""
    every = max(1, len(rounds) // _MOST_ROUNDS)
    return rounds[::every]


def _guards(step: Callable[[object], None], rounds: list[Round]) -> dict[Gap, float]:
    """Mean seconds of look-ups in each kind of gap, of the steps after the first."""
    sums: dict[Gap, float] = {}
    counts: dict[Gap, int] = {}
    for number in range(_PROFILED):
        found = lookups_between(lambda: step(None))
        if number == 0:
            continue
        # Functions are looked up on the way to a graph; a backward pass looks nothing up.
        before = [gap for gap, _, _ in gaps(rounds[-1]) if not gap[1].endswith("backward")]
        for gap, length in zip(before, found, strict=False):
            sums[gap] = sums.get(gap, 0.0) + length
            counts[gap] = counts.get(gap, 0) + 1
    return {gap: sums[gap] / counts[gap] for gap in sums}


def step_parts(timing: StepTiming, report: Report) -> StepParts | Unavailable:
    """A compiled step by where its time goes; see `split_rounds`.

    Args:
        timing: Measured.
        report: With the breaks, graphs and frames of the same program.
    """
    missing = timing.timed.seconds(1)
    if isinstance(missing, Unavailable) or timing.stacked is None:
        return missing if isinstance(missing, Unavailable) else Unavailable("not timed")
    owners = gap_owners(timing.stacked, report)
    parts = split_rounds(timing.rounds, timing.guards, owners)
    whole = total(timing.rounds)
    return StepParts(
        seconds=whole,
        parts=parts,
        covered=sum(part.seconds.median for part in parts) / whole.median,
        eager=timing.timed.seconds(0),
        speedup=timing.timed.speedup(1),
    )
