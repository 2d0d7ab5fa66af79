"""A graph timed by each candidate, side by side: inference, or forward and backward."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import torch

from graphlens.analysis.intervals import verdict
from graphlens.analysis.kernel_times import TimedKernels
from graphlens.checks.candidates import Candidate, CandidateUnavailable, Ready, make
from graphlens.checks.graph_calls import GraphCall, WatchedGraph
from graphlens.checks.graph_runs import GraphRun
from graphlens.checks.kernel_timing import KernelTimer, Own
from graphlens.checks.rounds import Progress, Runnable, TimedRounds, time_rounds
from graphlens.model import CandidateTiming, Graph, Measured, Timing, Unavailable


class Timings(list[Timing]):
    """A graph's timings, one for each part.

    Attributes:
        interrupted: Whether the user stopped it; what was measured until then is kept.
        kernels: Of the lowered graphs, by id.
        device: That it ran on.
    """

    interrupted: bool = False
    kernels: Mapping[str, TimedKernels] = MappingProxyType({})
    device: torch.device = torch.device("cpu")


@dataclass
class _Entrant:
    """A candidate of one graph."""

    candidate: Candidate
    ready: Ready | None = None
    missing: str = ""
    first: float = 0.0
    peaks: dict[str, int | Unavailable] = field(default_factory=dict)


def time_graph(
    watched: WatchedGraph,
    call: GraphCall,
    candidates: Sequence[Candidate],
    seconds: float,
    progress: Progress | None = None,
    used: str | None = None,
    backward: bool | None = None,
    whole: Callable[[float], float] = float,
    lowered: Sequence[Graph] = (),
) -> Timings:
    """Times a graph by each candidate.

    Compiling and the first run of each, in which some compile their backward graph, are outside of
    the budget.

    Args:
        watched: The graph.
        call: To make again and again, on copies of its inputs.
        candidates: The first is the one that the others are compared to.
        seconds: Budget for the rounds of all candidates together.
        progress: Told what is going on and the share of the budget that is used.
        used: Name of the candidate that the run was compiled with; see `make`.
        backward: Whether to time the backward pass too; None for what the program did.
        whole: The budget that a user would give so that this has so many seconds; for messages.
        lowered: What the run compiled the graph to: their kernels are timed in the same rounds.
    """
    timer = _GraphTimer(watched, call, candidates, progress, used, backward, lowered)
    return timer.timings(seconds, whole)


class _GraphTimer:
    def __init__(
        self,
        watched: WatchedGraph,
        call: GraphCall,
        candidates: Sequence[Candidate],
        progress: Progress | None,
        used: str | None,
        backward: bool | None,
        lowered: Sequence[Graph],
    ) -> None:
        self.watched, self.call, self.used, self.progress = watched, call, used, progress
        self.backward = call.tangents is not None if backward is None else backward
        self.entrants = [_Entrant(candidate) for candidate in candidates]
        self.run = GraphRun(call, self.backward)
        self.rounds = TimedRounds([])
        self.kernels = KernelTimer(lowered, self.run)

    def timings(self, seconds: float, whole: Callable[[float], float]) -> Timings:
        found = Timings()
        try:
            self.run.look(self.watched.gm)
            for entrant in self.entrants:
                self.prepare(entrant)
        except KeyboardInterrupt:
            found.interrupted = True
        ready = [entrant for entrant in self.entrants if entrant.ready is not None]
        if not found.interrupted and ready:
            runnables = [self.runnable(entrant) for entrant in ready]
            runnables += self.kernels.runnables(self.own(ready))
            self.rounds = time_rounds(runnables, seconds, self.progress, whole=whole)
            found.interrupted = self.rounds.interrupted
        for entrant in self.entrants:
            if entrant.ready is None and not entrant.missing:
                entrant.missing = "interrupted before it was compiled"
        found += [self.timing(part, step) for part, step in self.run.parts()]
        found.kernels = self.kernels.timed(self.rounds, self.own(ready))
        found.device = self.run.device
        return found

    def own(self, ready: Sequence[_Entrant]) -> Own | None:
        """What the run itself compiled: the program whose kernels are those of the report."""
        for entrant in ready:
            if entrant.ready is not None and entrant.ready.reused:
                return Own(entrant.candidate.name, entrant.ready.run)
        return None

    def prepare(self, entrant: _Entrant) -> None:
        """Compiles a candidate, makes its first run, and measures the memory of the next."""
        name = entrant.candidate.name
        if self.progress is not None:
            self.progress(f"{name}: compiling", 0.0)
        try:
            if self.run.reason:
                raise CandidateUnavailable(self.run.reason)
            mutates = self.run.mutates
            ready = make(entrant.candidate, self.watched, self.call, self.used, mutates)
            entrant.first = self.run.once(ready.run)
            entrant.peaks = self.run.peaks(ready.run)
            entrant.ready = ready
        except CandidateUnavailable as reason:
            entrant.missing = str(reason)
        except Exception as error:  # noqa: BLE001  the candidate's; the others go on
            first = str(error).strip().partition("\n")[0]
            entrant.missing = f"it raised {type(error).__name__}: {first}"

    def runnable(self, entrant: _Entrant) -> Runnable:
        assert entrant.ready is not None  # noqa: S101  for mypy; only those that are ready come
        return self.run.runnable(entrant.candidate.name, entrant.ready.run)

    def timing(self, part: str, step: int | None) -> Timing:
        timed = [self.candidate(entrant, part, step) for entrant in self.entrants]
        second = timed[1].speedup if len(timed) > 1 else Unavailable("one candidate only")
        return Timing(
            graph=self.watched.graph.id,
            part=part,
            candidates=tuple(timed),
            verdict=verdict(second) if isinstance(second, Measured) else "unknown",
            threads=torch.get_num_threads(),
            # Also the first run of each, and the one whose memory was measured.
            warm_up=self.rounds.warm_up + 2,
        )

    def candidate(self, entrant: _Entrant, part: str, step: int | None) -> CandidateTiming:
        seconds, speedup = self.measured(entrant, step)
        return CandidateTiming(
            candidate=entrant.candidate.name,
            seconds=seconds,
            speedup=speedup,
            compile_seconds=self.compile_seconds(entrant),
            peak_bytes=entrant.peaks.get(part, Unavailable(entrant.missing or "not measured")),
        )

    def measured(
        self, entrant: _Entrant, step: int | None
    ) -> tuple[Measured | Unavailable, Measured | Unavailable]:
        names = [series.name for series in self.rounds.series]
        if entrant.candidate.name not in names:
            reason = Unavailable(entrant.missing or "interrupted before it was timed")
            return reason, reason
        index = names.index(entrant.candidate.name)
        seconds = self.rounds.seconds(index, step)
        first = self.entrants[0]
        if first.candidate.name != names[0]:
            return seconds, Unavailable(f"{first.candidate.name}: {first.missing}")
        return seconds, self.rounds.speedup(index, step)

    def compile_seconds(self, entrant: _Entrant) -> float | Unavailable:
        """With what the first run took longer than another one: a backward graph's compilation."""
        if entrant.ready is None:
            return Unavailable(entrant.missing)
        made = entrant.ready.compile_seconds
        if entrant.candidate.is_eager or entrant.ready.reused or isinstance(made, Unavailable):
            return made
        warm = [one.warm for one in self.rounds.series if one.name == entrant.candidate.name]
        usual = min(warm[0], default=entrant.first) if warm else entrant.first
        return made + max(entrant.first - usual, 0.0)
