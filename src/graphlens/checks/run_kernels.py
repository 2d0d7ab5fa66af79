"""The kernels of all graphs of a run: which are timed, and what the machine could do at most."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from graphlens.analysis.kernel_bounds import product_dtypes
from graphlens.analysis.kernel_times import TimedKernels, with_kernel_times
from graphlens.analysis.report_parts import graph_kernels
from graphlens.checks.ceilings import ceilings
from graphlens.checks.graph_timing import Timings
from graphlens.model import NO_CEILINGS, Ceilings, Graph, Report, Unavailable

_INTERRUPTED = Unavailable("interrupted before it was measured")


@dataclass
class RunKernels:
    """Times of the kernels of a run.

    Attributes:
        graphs: Of the run, as reported.
        timed: By the id of the lowered graph.
        device: Of the graph that was timed last.
        ceilings: Of the machine.
    """

    graphs: Sequence[Graph] = ()
    timed: dict[str, TimedKernels] = field(default_factory=dict)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    ceilings: Ceilings | Unavailable = _INTERRUPTED

    def lowered(self, compile_id: str) -> list[Graph]:
        """What a graph was compiled to, where the kernels of that are known."""
        return [
            graph
            for graph in self.graphs
            if graph.compile_id == compile_id
            and graph.stage != "dynamo"
            and not graph.discarded
            and not isinstance(graph.kernels, Unavailable)
        ]

    def take(self, timings: Timings) -> None:
        """Keeps what was measured of a graph."""
        self.timed.update(timings.kernels)
        self.device = timings.device

    def measure_machine(self) -> None:
        """Measures the machine where kernels were timed that this is to judge."""
        kernels = [
            kernel
            for graph in self.graphs
            if graph.id in self.timed and not isinstance(self.timed[graph.id].times, Unavailable)
            for kernel in graph_kernels(graph)
        ]
        self.ceilings = NO_CEILINGS
        if kernels:
            self.ceilings = ceilings(self.device, product_dtypes(kernels))

    def into(self, report: Report) -> Report:
        """The report with all of it."""
        return with_kernel_times(report, self.timed, self.ceilings) if self.timed else report
