"""Runs of a generated program in which each call of a kernel is timed.

The program that torch runs stays loaded where it is: while kernels are timed, the code of its
functions is exchanged for the same code with marks, and put back after. It is the generated
program's code that is exchanged, in runs of the comparison's own, never torch's and never the
user's.

Why not torch's profiler: it sees C++ kernels only with ``cpp.enable_kernel_profile``, which makes
another program under another cache key; each event costs it more than a short kernel takes; and
its events have to be guessed to be the kernels of the report, by their order.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, ModuleType

from graphlens._torch.generated_modules import function_of, loaded_programs
from graphlens.analysis.kernel_times import block_seconds
from graphlens.analysis.marked_program import BEGIN, NOTE, NOW, MarkedProgram, marked_program
from graphlens.checks.mark_clocks import MarkClock, Noted
from graphlens.model import Graph, Unavailable

_RUN_BEGINS = -1


class NoMarks(Exception):
    """Why a program cannot be given marks."""


@dataclass
class MarkedRuns:
    """Runs of one program.

    Attributes:
        clock: Takes the time at marks.
        sites: Of the program's calls, as `MarkedProgram` has them.
        modules: That torch loaded from the program.
        codes: Their functions, each with its code with marks.
        blocks: Of each block of runs the mean seconds of each call; None where it was not run.
    """

    clock: MarkClock
    sites: tuple[int, ...]
    modules: list[ModuleType]
    codes: list[tuple[FunctionType, CodeType]]
    blocks: list[list[float | None]] = field(default_factory=list)

    @classmethod
    def of_graph(cls, graph: Graph, clock: MarkClock) -> "MarkedRuns":
        """For a lowered graph of a report.

        Raises:
            NoMarks: Its kernels are not known, or its program is not loaded.
        """
        if isinstance(graph.kernels, Unavailable):
            raise NoMarks(graph.kernels.reason)
        if isinstance(graph.output_code, Unavailable):
            raise NoMarks(graph.output_code.reason)
        program = marked_program(graph.output_code)
        if program.calls != tuple(kernel.call for kernel in graph.kernels):
            raise NoMarks("the calls of the generated program are not those of the report")
        modules = loaded_programs(graph.output_code)
        if not modules:
            raise NoMarks("the generated program of the report is not what torch has loaded")
        codes = [pair for module in modules for pair in _codes(program, module)]
        return cls(clock, program.sites, modules, codes)

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Runs of the program inside are a block, and are timed."""
        noted: list[Noted] = []
        before = [(function, function.__code__) for function, _ in self.codes]
        names = {NOW: self.clock.now, NOTE: noted.append, BEGIN: partial(self._begin, noted)}
        try:
            for module in self.modules:
                vars(module).update(names)
            for function, code in self.codes:
                function.__code__ = code
            yield
        finally:
            for function, code in before:
                function.__code__ = code
            for module in self.modules:
                for name in names:
                    vars(module).pop(name, None)
            self._end(noted)

    def _begin(self, noted: list[Noted]) -> None:
        noted.append((_RUN_BEGINS, None, None))
        self.clock.begin(len(self.sites))

    def _end(self, noted: Sequence[Noted]) -> None:
        runs: list[list[Noted]] = []
        for one in noted:
            if one[0] == _RUN_BEGINS:
                runs.append([])
            elif runs:
                runs[-1].append(one)
        timed = [self.clock.seconds(run) for run in runs]
        nothing: list[float | None] = [None] * len(self.sites)
        self.blocks.append(block_seconds(self.sites, timed) if timed else nothing)


def _codes(program: MarkedProgram, module: ModuleType) -> list[tuple[FunctionType, CodeType]]:
    """Functions of a module, each with its code with marks."""
    found = []
    for owner, definition in program.functions:
        function = function_of(module, owner, definition.name)
        if function is None or function.__code__.co_freevars:
            raise NoMarks(f"the function {definition.name} of the program is of an unknown form")
        found.append((function, _code(definition, module)))
    return found


def _code(definition: ast.FunctionDef, module: ModuleType) -> CodeType:
    """The code of a function; nothing is run."""
    tree = ast.Module([definition], [])
    compiled = compile(tree, module.__file__ or "<generated program>", "exec")
    return next(one for one in compiled.co_consts if isinstance(one, CodeType))
