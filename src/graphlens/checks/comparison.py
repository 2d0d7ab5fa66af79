"""One comparison: the runs, and what is measured on them, in order."""

import contextlib
import gc
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import torch

from graphlens._torch.compile_phases import compile_phases
from graphlens._torch.isolation import isolated_compilation, isolation_keywords
from graphlens.analysis.compared_graphs import with_accuracies, with_timings
from graphlens.analysis.compile_phases import CompileTime
from graphlens.analysis.disagreement import disagreement
from graphlens.analysis.divergence_kernels import with_divergence_kernels
from graphlens.analysis.payback import Phases, payback
from graphlens.capture.options import lens_options
from graphlens.capture.recorder import Recorder
from graphlens.checks.candidates import Candidate, parse_all
from graphlens.checks.compare_options import CompareOptions
from graphlens.checks.graph_accuracy import graph_accuracy
from graphlens.checks.graph_calls import WatchedGraph
from graphlens.checks.graph_timing import time_graph
from graphlens.checks.other_runs import OtherRuns
from graphlens.checks.program_results import CallResult
from graphlens.checks.programs import Function, Program
from graphlens.checks.repro_files import save_repros
from graphlens.checks.result_differences import Differences, differences
from graphlens.checks.run_kernels import RunKernels
from graphlens.checks.step_timing import StepTiming, step_parts, time_step
from graphlens.checks.watcher import Watcher
from graphlens.checks.whole_accuracy import whole_accuracy
from graphlens.model import Accuracy, Note, Report, StepParts, Timing, Unavailable

Progress = Callable[[str, float], None]

# Of the timing budget; the graphs by themselves share the rest.
_SHARE_OF_WHOLE = 0.4


class Comparison:
    """Runs a program, measures, and gives the report; each is made for one report.

    Args:
        program: To compare.
        options: What of it.
        progress: Told what is going on, and the share of it that is done, 0 to 1.
    """

    def __init__(
        self, program: Program, options: CompareOptions, progress: Progress | None = None
    ) -> None:
        self.program = program
        self.options = options
        self.progress = progress or (lambda *_: None)
        inner = lens_options({"show": "none", "inner": options.inner})
        self.watcher = Watcher(inner, options.inner_keywords)
        self.used = "eager, captured" if options.inner == "eager" else self.watcher.name
        others = parse_all(options.candidates) if options.candidates else []
        self.candidates = [
            Candidate("eager", "eager"),
            Candidate(self.used, self.used),
            *(one for one in others if one.name not in ("eager", self.used)),
        ]
        self.backend = self.watcher.backend
        self.others = OtherRuns(program, options.compile_keywords)
        self.compiled: dict[int, tuple[Function, Function]] = {}
        self.accuracies: dict[str, Accuracy] = {}
        self.whole: Accuracy | None = None
        self.timings: dict[str, list[Timing]] = {}
        self.kernels = RunKernels()
        self.step: StepTiming | None = None
        self.compile_time: CompileTime | None = None
        self.warm: CompileTime | None = None
        self.notes: list[Note] = []

    def report(self) -> Report:
        """Does all of it. Ctrl-C ends it early: what was measured until then is in the report."""
        self.progress("running in eager", 0.0)
        eager = self.program.run(lambda function: function)
        recorder = Recorder()
        with isolated_compilation(self._is_ours):
            self.watcher.unchanged = self.program.unchanged
            self.progress("compiling", 0.05)
            recorder.start()
            try:
                with compile_phases() as phases:
                    compiled = self.program.run(self._compile)
            finally:
                recorder.stop()
            self.compile_time = phases.total()
            for watched in self.watcher.graphs.values():
                watched.hits_of_run = watched.hits
            captured = recorder.report()
            self.kernels.graphs = captured.graphs
            errors = [one.error for one in eager]
            if not _fails(errors):
                with self._interruptible():
                    self._measure(eager, compiled)
            self.watcher.keep = False
            self.program.finish(self._compile)
        made = self._assembled(captured)
        _raise_what_eager_raises(errors, made)
        return made

    def _is_ours(self, used: Any) -> bool:
        return used == self.backend or used in self.others.backends

    def _compile(self, function: Function) -> Function:
        """Compiled once: timed runs use what the run compiled."""
        known = self.compiled.get(id(function))
        if known is None:
            keywords = {**isolation_keywords(), **self.options.compile_keywords}
            made: Any = torch.compile(function, backend=self.backend, **keywords)
            known = self.compiled[id(function)] = (function, made)
        return known[1]

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self.notes.append(_INTERRUPTED)

    def _measure(self, eager: list[CallResult], compiled: list[CallResult]) -> None:
        found = differences(eager, compiled)
        compiled.clear()
        kept = list(eager) if found.wrong else []
        if not found.wrong:
            _free(eager)
        gc.collect()  # compiling leaves much behind in cycles, and comparing takes memory
        if self.options.accuracy:
            self._compare(found, kept)
        if self.options.timing and not found.raises:
            self._time()

    def _compare(self, found: Differences, eager: list[CallResult]) -> None:
        """The whole first where all agrees, as that is known by now."""
        whole = partial(
            whole_accuracy, found, eager, self.accuracies, self.watcher.name, self.others
        )
        if not found.wrong:
            self.whole = whole()
        self._compare_graphs()
        if self.options.repro:
            self.progress("writing scripts that reproduce", 0.49)
            self.notes += save_repros(self.watcher.graphs, self.accuracies, self.options)
        if found.wrong:
            self.progress("comparing the whole", 0.5)
            self.whole = whole()

    def _compare_graphs(self) -> None:
        graphs = list(self.watcher.graphs.items())
        for number, (name, watched) in enumerate(graphs):
            share = 0.1 + 0.4 * number / len(graphs)
            self.progress(f"comparing graph {name}", share)
            self.accuracies[name] = graph_accuracy(
                watched, self.options, partial(self._tell, share)
            )

    def _tell(self, share: float, what: str) -> None:
        self.progress(what, share)

    def _time(self) -> None:
        graphs = [one for one in self.watcher.graphs.values() if one.calls and one.compiled]
        share = _SHARE_OF_WHOLE if graphs else 1.0
        budget = self.options.budget
        start = time.perf_counter()
        self.step = time_step(
            self.program,
            lambda function: function,
            self._compile,
            self.watcher,
            budget,
            share,
            self.progress,
        )
        if self.step.timed.interrupted:
            raise KeyboardInterrupt
        left = min(budget * (1 - share), budget - (time.perf_counter() - start))
        for watched in graphs:
            self._time_graph(watched, max(left, 0.0), len(graphs))
        self.progress("measuring the machine", 0.94)
        self.kernels.measure_machine()
        self._time_compiling_again()

    def _time_compiling_again(self) -> None:
        """Where the first compilation found its caches empty: the same with what it left there."""
        if self.compile_time is None or self.compile_time.caches == "warm":
            return
        self.progress("compiling again, from the caches", 0.95)
        with compile_phases() as phases:
            self.others.with_backend(self.options.inner, self.options.inner_keywords)
        self.warm = phases.total()

    def _time_graph(self, watched: WatchedGraph, left: float, graphs: int) -> None:
        call = watched.calls[0]
        with call.as_held():
            made = time_graph(
                watched,
                call,
                self.candidates,
                left / graphs,
                self.progress,
                used=self.used,
                backward=self.options.backward,
                whole=lambda seconds: self.options.budget - left + seconds * graphs,
                lowered=self.kernels.lowered(watched.graph.compile_id),
            )
        self.timings[watched.graph.compile_id] = list(made)
        self.kernels.take(made)
        if made.interrupted:
            raise KeyboardInterrupt

    def _assembled(self, captured: Report) -> Report:
        report = msgspec.structs.replace(
            captured, notes=(*captured.notes, *self.program.notes, *self.notes)
        )
        if self.whole is not None:
            report = msgspec.structs.replace(report, accuracy=self.whole)
        report = with_divergence_kernels(with_accuracies(report, self.accuracies))
        report = self.kernels.into(with_timings(report, self.timings))
        if self.step is not None:
            report = self._with_step(report, self.step)
        return report

    def _with_step(self, report: Report, timing: StepTiming) -> Report:
        parts = step_parts(timing, report)
        if isinstance(parts, StepParts):
            hits = {name: watched.hits_of_run for name, watched in self.watcher.graphs.items()}
            why = disagreement(parts, self.timings, hits)
            parts = msgspec.structs.replace(parts, disagreement=why)
        cold, warm = _cold_and_warm(self.compile_time, self.warm)
        return msgspec.structs.replace(
            report,
            step=parts,
            payback=payback(cold, warm, timing.timed.saved(1), self.options.epoch_steps),
            timings=(timing.of_whole(self.used), *self._of_graphs(report)),
        )

    def _of_graphs(self, report: Report) -> list[Timing]:
        return [graph.timing for graph in report.graphs if isinstance(graph.timing, Timing)]


def _cold_and_warm(first: CompileTime | None, again: CompileTime | None) -> tuple[Phases, Phases]:
    if first is None:
        return Unavailable("compiling was not timed"), Unavailable("compiling was not timed")
    if first.caches == "warm":
        return Unavailable(_ANSWERED), first.phases
    warm = Unavailable("not compiled again") if again is None else again.phases
    return first.phases, warm


_ANSWERED = "torch's caches answered; TORCHINDUCTOR_CACHE_DIR=<an empty folder> times it anew"


def _free(results: list[CallResult]) -> None:
    for one in results:
        one.leaves = []


def _raise_what_eager_raises(errors: list[BaseException | None], report: Report) -> None:
    if _fails(errors) and errors[0] is not None:
        errors[0].graphlens_report = report  # type: ignore[attr-defined]
        raise errors[0]


def _fails(errors: list[BaseException | None]) -> bool:
    """Whether every call raises in eager: such a program is not one to compare."""
    return bool(errors) and all(errors)


_INTERRUPTED = Note(
    code="interrupted",
    message="The comparison was interrupted; what was measured until then is here.",
    hint="Give a smaller budget, such as budget=10, or fewer candidates.",
)
