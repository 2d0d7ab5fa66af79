"""Times of the kernels of a graph, taken in the rounds in which the graph itself is timed."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple

from graphlens.analysis.kernel_times import TimedKernels, timed_kernels
from graphlens.checks.graph_calls import CompiledFn
from graphlens.checks.graph_runs import GraphRun
from graphlens.checks.mark_clocks import mark_clock, mark_seconds
from graphlens.checks.marked_runs import MarkedRuns, marked_runs
from graphlens.checks.rounds import Runnable, TimedRounds
from graphlens.model import Graph, Unavailable

_NAME = "kernels"


class Own(NamedTuple):
    """What the run itself compiled.

    Attributes:
        name: As it is called in the rounds.
        fn: Takes the graph's inputs one by one.
    """

    name: str
    fn: CompiledFn


class KernelTimer:
    """Times the kernels of what a graph was compiled to.

    Args:
        lowered: The graph's lowered graphs, as reported.
        run: Runs of the graph.
    """

    def __init__(self, lowered: Sequence[Graph], run: GraphRun) -> None:
        self.lowered, self.run = lowered, run
        self.runs: dict[str, MarkedRuns] = {}
        self.missing: dict[str, str] = {}
        self.mark = 0.0

    def runnables(self, own: Own | None) -> list[Runnable]:
        """Runs of the graph with marks in its programs; none where no program can be given marks.

        To be called once torch has loaded all programs: a backward one is compiled at its first
        run.
        """
        if own is None:
            return []
        clock = mark_clock(self.run.device)
        self.mark = mark_seconds(clock) if self.lowered else 0.0
        for graph in self.lowered:
            made = marked_runs(graph, clock, self.mark)
            if isinstance(made, Unavailable):
                self.missing[graph.id] = made.reason
            else:
                self.runs[graph.id] = made
        if not self.runs:
            return []
        return [replace(self.run.runnable(_NAME, own.fn), around=self._around, extra=True)]

    @contextmanager
    def _around(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self.run.around())
            for one in self.runs.values():
                stack.enter_context(one.marked())
            yield

    def timed(self, rounds: TimedRounds, own: Own | None) -> dict[str, TimedKernels]:
        """What rounds gave, by lowered graph.

        Args:
            rounds: In which the program ran as it is, and with marks.
            own: The program as it is.
        """
        index = {series.name: number for number, series in enumerate(rounds.series)}
        found = {name: _missing(why) for name, why in self.missing.items()}
        if own is None or own.name not in index or _NAME not in index:
            why = "interrupted before it was timed" if rounds.interrupted else "it was not timed"
            return {graph.id: _missing(why) for graph in self.lowered} | found
        short = rounds.seconds(index[_NAME])
        warm = len(rounds.series[index[_NAME]].warm)
        for graph in self.lowered:
            if graph.id not in self.runs:
                continue
            if isinstance(short, Unavailable):
                found[graph.id] = _missing(short.reason)
                continue
            if graph.stage == "backward" and graph.stage not in dict(self.run.parts()):
                found[graph.id] = _missing("the backward pass was not timed")
                continue
            plain = rounds.series[index[own.name]].seconds(self._step(graph))
            blocks = self.runs[graph.id].blocks[warm:][: len(plain)]
            found[graph.id] = timed_kernels(blocks, plain, self.mark)
        return found

    def _step(self, graph: Graph) -> int | None:
        """The step of a run in which a graph runs; None for the only one."""
        return dict(self.run.parts()).get(graph.stage)


def _missing(why: str) -> TimedKernels:
    return TimedKernels((), Unavailable(why))
