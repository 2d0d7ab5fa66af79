"""Times taken at the marks of a program, joined to its kernels, and put into a report."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import msgspec

from graphlens.analysis.intervals import MIN_ROUNDS, difference, measured, ratio
from graphlens.analysis.kernel_bounds import bound_of
from graphlens.analysis.marked_program import WHOLE
from graphlens.model import (
    Ceilings,
    Graph,
    Kernel,
    KernelTimes,
    Measured,
    Report,
    Unavailable,
)

_NOT_RUN = Unavailable("a run of the graph did not call it, as on the other side of a branch")
_NEVER = Unavailable(
    "the generated program itself was not called, as where a CUDA graph is replayed instead"
)

Run = Sequence[tuple[int, float]]
"""The site and the seconds of each call of a run, in order."""


class Block(NamedTuple):
    """Mean seconds of a run, of several.

    Attributes:
        calls: Of each call of the program; None where they cannot be told.
        kernels: Of all calls that ran.
        whole: Of the program, from its first statement to its last.
    """

    calls: list[float | None]
    kernels: float
    whole: float


class TimedKernels(NamedTuple):
    """What was measured of a graph.

    Attributes:
        seconds: Of each kernel.
        times: Of all together.
    """

    seconds: tuple[Measured | Unavailable, ...]
    times: KernelTimes | Unavailable


def seconds_by_call(sites: Sequence[int], run: Run) -> list[float | None]:
    """Seconds of each call that a program lists; None where they cannot be told or it did not run.

    A call of a loop has the sum of all times that it ran.

    Args:
        sites: Of the calls, as listed.
        run: Of the calls, as they ran.
    """
    if [site for site, _ in run] == list(sites):
        return [seconds for _, seconds in run]
    total: dict[int, float] = {}
    for site, seconds in run:
        total[site] = total.get(site, 0.0) + seconds
    # A branch or a loop. Where a function is called twice, which of its calls is which is lost.
    return [total.get(site) if sites.count(site) == 1 else None for site in sites]


def block_seconds(sites: Sequence[int], runs: Sequence[Run], mark: float = 0.0) -> Block | None:
    """Means over the runs of a block; None where the program was not run in it.

    Args:
        sites: Of the calls, as listed.
        runs: Of the program.
        mark: Seconds that two marks with nothing between them show, which are taken off.
    """
    if not runs:
        return None
    own = [_without_marks(run, mark) for run in runs]
    # A pair of marks shows one look at the clock and takes two: so much the program is longer.
    whole = [
        sum(seconds for site, seconds in run if site == WHOLE) - 2 * mark * len(calls)
        for run, calls in zip(runs, own, strict=True)
    ]
    found: list[float | None] = []
    for values in zip(*(seconds_by_call(sites, calls) for calls in own), strict=True):
        known = [value for value in values if value is not None]
        found.append(fmean(known) if len(known) == len(values) else None)
    kernels = fmean(sum(seconds for _, seconds in calls) for calls in own)
    return Block(found, kernels, fmean(whole))


def _without_marks(run: Run, mark: float) -> Run:
    return [(site, max(seconds - mark, 0.0)) for site, seconds in run if site != WHOLE]


def timed_kernels(
    blocks: Sequence[Block | None], graph: Sequence[float], mark: float
) -> TimedKernels:
    """What rounds say of each kernel, and of all.

    Args:
        blocks: Of each round.
        graph: Of each round the seconds of the graph without marks.
        mark: Seconds of a mark, which were taken off.
    """
    known = [block for block in blocks if block is not None]
    if len(known) < len(blocks):
        return TimedKernels((), _NEVER)
    if len(known) < MIN_ROUNDS or len(known) != len(graph):
        return TimedKernels((), Unavailable(f"{len(known)} of at least {MIN_ROUNDS} rounds"))
    sums = [block.kernels for block in known]
    program = [block.whole for block in known]
    times = KernelTimes(
        kernels=measured(sums),
        program=measured(program),
        graph=measured(graph),
        between=difference(program, sums),
        around=difference(graph, program),
        covered=ratio(sums, graph),
        mark_seconds=mark,
    )
    calls = zip(*(block.calls for block in known), strict=True)
    return TimedKernels(tuple(map(_measured, calls)), times)


def _measured(values: Sequence[float | None]) -> Measured | Unavailable:
    known = [value for value in values if value is not None]
    return measured(known) if len(known) == len(values) else _NOT_RUN


def with_kernel_times(
    report: Report, timed: Mapping[str, TimedKernels], ceilings: Ceilings | Unavailable
) -> Report:
    """A report with the times of its kernels and what bounds each.

    Args:
        report: Of the same run.
        timed: By the id of the graph.
        ceilings: Of the machine.
    """
    graphs = tuple(
        _with_times(graph, timed[graph.id], ceilings)
        if graph.id in timed and not graph.discarded
        else graph
        for graph in report.graphs
    )
    return msgspec.structs.replace(report, graphs=graphs, ceilings=ceilings)


def _with_times(graph: Graph, timed: TimedKernels, ceilings: Ceilings | Unavailable) -> Graph:
    if isinstance(graph.kernels, Unavailable):
        return msgspec.structs.replace(graph, kernel_times=timed.times)
    why = timed.times if isinstance(timed.times, Unavailable) else _NOT_RUN
    seconds = timed.seconds or (why,) * len(graph.kernels)
    kernels = tuple(
        _timed(kernel, each, ceilings) for kernel, each in zip(graph.kernels, seconds, strict=True)
    )
    return msgspec.structs.replace(graph, kernels=kernels, kernel_times=timed.times)


def _timed(
    kernel: Kernel, seconds: Measured | Unavailable, ceilings: Ceilings | Unavailable
) -> Kernel:
    made = msgspec.structs.replace(kernel, seconds=seconds)
    return msgspec.structs.replace(made, bound=bound_of(made, ceilings))
