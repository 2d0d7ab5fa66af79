"""One preview: the run, then what is made of each graph, and the report."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import torch

from graphlens._torch.generated_code import Generated
from graphlens._torch.isolation import isolated_compilation, isolation_keywords
from graphlens._torch.kernel_binaries import compile_kernels
from graphlens.analysis.generated_programs import generated_programs
from graphlens.analysis.kernels import kernels_of
from graphlens.analysis.roofline import estimate
from graphlens.capture.recorder import Recorder
from graphlens.checks.interpreted import ProgramRun, interpret
from graphlens.checks.preview_accuracy import preview_accuracy, program_run
from graphlens.checks.preview_graphs import PreviewBackend, PreviewedGraph
from graphlens.checks.preview_options import PreviewOptions
from graphlens.checks.program_results import CallResult
from graphlens.checks.programs import Function, Program
from graphlens.model import (
    Accuracy,
    CpuProgram,
    Graph,
    Kernel,
    Note,
    Report,
    Unavailable,
)

Progress = Callable[[str, float], None]

_GENERATING, _COMPILING, _COMPARING = 0.05, 0.3, 0.6


class Preview:
    """Runs a program, generates code for its graphs, and gives the report.

    Args:
        program: To preview.
        options: What of it.
        progress: Told what is going on, and the share of it that is done, 0 to 1.
    """

    def __init__(
        self, program: Program, options: PreviewOptions, progress: Progress | None = None
    ) -> None:
        self.program = program
        self.options = options
        self.progress = progress or (lambda *_: None)
        self.recorder = Recorder(thread=threading.get_ident())
        self.made = PreviewBackend(options, self.recorder, self._telling(_GENERATING))
        self.backend = self.made.backend

    def report(self) -> Report:
        """Does all of it.

        Raises:
            BaseException: What every call of the program raises; the report is its
                ``graphlens_report``.
        """
        results = self._run()
        report = self.recorder.report()
        joined = [(self._previewed(graph, kept), kept) for graph, kept in self._joined(report)]
        graphs = self._compared(joined) if self.options.numerics else [one for one, _ in joined]
        names = [one.name for graph in graphs for one in _kernels(graph)]
        made = msgspec.structs.replace(
            report,
            graphs=tuple(graphs),
            kernels=tuple(dict.fromkeys(names)),
            accuracy=_whole(graphs) if self.options.numerics else _NUMERICS_OFF,
            target=self.options.target,
            notes=(*report.notes, *self.program.notes, *self._remarks()),
        )
        errors = [one.error for one in results if one.error is not None]
        if errors and len(errors) == len(results):
            errors[0].graphlens_report = made  # type: ignore[attr-defined]
            raise errors[0]
        return made

    def _run(self) -> list[CallResult]:
        with isolated_compilation(lambda used: used == self.backend):
            self.recorder.start()
            try:
                return self.program.run(self._compile)
            finally:
                self.recorder.stop()

    def _compile(self, function: Function) -> Function:
        keywords = {**isolation_keywords(), **self.options.compile_keywords}
        made: Any = torch.compile(function, backend=self.backend, **keywords)
        return made  # type: ignore[no-any-return]

    def _joined(self, report: Report) -> Iterator[tuple[Graph, PreviewedGraph | None]]:
        """Each graph of the report with what was kept of it; Dynamo's have nothing."""
        waiting: dict[tuple[str, str], list[PreviewedGraph]] = defaultdict(list)
        for kept in self.made.graphs:
            waiting[kept.compile_id, kept.stage].append(kept)
        for graph in report.graphs:
            own = waiting[graph.compile_id, graph.stage]
            yield graph, own.pop(0) if own else None

    def _previewed(self, graph: Graph, kept: PreviewedGraph | None) -> Graph:
        graph = msgspec.structs.replace(graph, compile_seconds=_NOT_COMPILED)
        if kept is None:
            return graph
        cpu = _cpu_program(graph, kept)
        if isinstance(kept.gpu, Unavailable):
            return msgspec.structs.replace(
                graph, output_code=kept.gpu, kernels=kept.gpu, unassigned=kept.gpu, cpu_program=cpu
            )
        graph = msgspec.structs.replace(graph, cpu_program=cpu)
        if isinstance(graph.kernels, Unavailable):
            return graph
        kernels = self._with_binaries(graph, graph.kernels)
        return msgspec.structs.replace(graph, kernels=kernels)

    def _with_binaries(self, graph: Graph, kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
        target = self.options.target
        compiled = compile_kernels(
            kernels, target, self.options.all_configs, self._telling(_COMPILING, f"{graph.id}: ")
        )
        tf32 = torch.backends.cuda.matmul.allow_tf32
        return tuple(
            msgspec.structs.replace(kernel, binaries=one, estimate=estimate(kernel, target, tf32))
            for kernel, one in zip(kernels, compiled, strict=True)
        )

    def _compared(self, joined: list[tuple[Graph, PreviewedGraph | None]]) -> list[Graph]:
        """The graphs with the verdicts on their programs."""
        runs = {graph.id: program_run(kept, graph.id) for graph, kept in joined if kept}
        programs = [one for one in runs.values() if isinstance(one, ProgramRun)]
        results = dict(
            zip(
                [one.name for one in programs],
                interpret(
                    programs, self.options.target, self.options.budget, self._telling(_COMPARING)
                ),
                strict=True,
            )
        )
        found = []
        for graph, kept in joined:
            if kept is not None:
                self.progress(f"{graph.id}: comparing with eager", _COMPARING)
                why: Any = results.get(graph.id, runs[graph.id])
                accuracy = preview_accuracy(graph, kept, why)
                graph = msgspec.structs.replace(graph, accuracy=accuracy)
            found.append(graph)
        return found

    def _telling(self, share: float, before: str = "") -> Callable[[str], None]:
        return lambda what: self.progress(before + what, share)

    def _remarks(self) -> Iterator[Note]:
        if not self.made.graphs:
            yield _NOTHING_CAPTURED
        moved = [kept.on_gpu for kept in self.made.graphs]
        texts = [r for one in moved if not isinstance(one, Unavailable) for r in one.remarks]
        for text in dict.fromkeys(texts):
            yield Note(code="traced-on-cpu", message=f"{text}.", hint=_TRACED_ON_CPU)


_NOT_COMPILED = Unavailable("a preview generates code for the GPU, and compiles none to run")
_NUMERICS_OFF = Unavailable("numerics are off: preview(..., numerics=True) compares with eager")
_NOTHING_CAPTURED = Note(
    code="nothing-captured",
    message="No graph reached the compiler, so there is nothing that a GPU would run.",
    hint="The report says what Dynamo did with each function; `graphlens explain` says why.",
)
_TRACED_ON_CPU = (
    "A preview traces the program on the CPU; docs/preview.md says what differs on a GPU."
)


def _whole(graphs: list[Graph]) -> Accuracy | Unavailable:
    """The worst verdict on a graph's program, as that on the whole."""
    found = [(g.id, g.accuracy) for g in graphs if isinstance(g.accuracy, Accuracy)]
    if not found:
        return Unavailable("no graph reached the compiler, so nothing was compared")
    name, worst = max(found, key=lambda pair: _BADNESS.index(pair[1].verdict))
    return msgspec.structs.replace(
        worst,
        tensors=(),
        reason=f"{name}: {worst.reason}" if worst.reason else "",
        calls=sum(accuracy.calls for _, accuracy in found),
    )


_BADNESS = ("agrees", "rounding", "precision_changed", "not_comparable", "diverges")


def _kernels(graph: Graph) -> tuple[Kernel, ...]:
    return () if isinstance(graph.kernels, Unavailable) else graph.kernels


def _cpu_program(graph: Graph, kept: PreviewedGraph) -> CpuProgram | Unavailable:
    if not isinstance(kept.cpu, Generated):
        return kept.cpu
    (program, *_) = generated_programs(kept.cpu.records)
    found = kernels_of(graph, program, kept.origins)
    return CpuProgram(code=program.code, kernels=found.kernels, unassigned=found.unassigned)
