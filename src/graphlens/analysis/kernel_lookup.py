"""Kernels of a report by name."""

from collections.abc import Iterator
from typing import NamedTuple

from graphlens.errors import UsageError
from graphlens.model import Graph, Kernel, Report, Unavailable
from graphlens.suggestions import nearest_first

_MOST_NAMES = 8


class KernelCall(NamedTuple):
    """A kernel where it is called.

    Attributes:
        graph: Whose program calls it.
        number: Its place among the calls of that program, from 0.
        kernel: What is called.
    """

    graph: Graph
    number: int
    kernel: Kernel


def kernel_calls(report: Report, name: str) -> list[KernelCall]:
    """The calls of a kernel, in the order of graphs and of execution.

    Args:
        report: With graphs whose programs are known.
        name: Of the kernel, or torch's handle of one call (``name:3``), which each graph counts
            anew.

    Raises:
        UsageError: No kernel is called that; the message has the nearest names.
    """
    calls = list(_calls(report))
    found = [call for call in calls if name in (call.kernel.name, call.kernel.handle)]
    if found:
        return found
    if not calls:
        raise UsageError(f"There is no kernel {name}: {_why_none(report)}.")
    names = dict.fromkeys(call.kernel.name for call in calls)
    if ":" in name:
        names = dict.fromkeys(call.kernel.handle or call.kernel.name for call in calls)
    valid = nearest_first(name, names, _MOST_NAMES)
    raise UsageError(f"There is no kernel {name}. Nearest first: {valid}.")


def _calls(report: Report) -> Iterator[KernelCall]:
    for graph in report.graphs:
        if not isinstance(graph.kernels, Unavailable):
            for number, kernel in enumerate(graph.kernels):
                yield KernelCall(graph, number, kernel)


def _why_none(report: Report) -> str:
    reasons = [g.kernels.reason for g in report.graphs if isinstance(g.kernels, Unavailable)]
    lowered = [g for g in report.graphs if g.stage != "dynamo"]
    of_lowered = [g.kernels.reason for g in lowered if isinstance(g.kernels, Unavailable)]
    return (of_lowered or reasons or ["nothing was captured"])[0]
