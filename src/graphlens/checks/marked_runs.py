"""Runs of a generated program in which each call of a kernel is timed.

The program that torch runs stays loaded where it is: while kernels are timed, the code of its
functions is exchanged for the same code with marks, and put back after. It is the generated
program's code that is exchanged, in runs of the comparison's own, never torch's and never the
user's.

Why not torch's profiler: it sees C++ kernels only with ``cpp.enable_kernel_profile``, which makes
another program under another cache key; an event costs it about 1 us (torch 2.14), where a mark
shows 50 ns; and its events could be joined to the kernels of the report only by their order.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from graphlens._torch.generated_modules import function_of, loaded_programs
from graphlens.analysis.kernel_times import Block, block_seconds
from graphlens.analysis.marked_program import BEGIN, NOTE, NOW, marked_program
from graphlens.checks.mark_clocks import MarkClock, Noted
from graphlens.model import Graph, Unavailable

_RUN_BEGINS = -2


@dataclass
class MarkedRuns:
    """Runs of one program.

    Attributes:
        clock: Takes the time at marks.
        mark: Seconds that two marks with nothing between them show.
        sites: Of the program's calls, as `MarkedProgram` has them.
        modules: That torch loaded from the program.
        codes: Their functions, each with its code with marks.
        blocks: Of runs, in order; None for one in which the program was not run.
    """

    clock: MarkClock
    mark: float
    sites: tuple[int, ...]
    modules: list[ModuleType]
    codes: list[tuple[FunctionType, CodeType]]
    blocks: list[Block | None] = field(default_factory=list)

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

    def _begin(self, noted: list[Noted]) -> Any:
        noted.append((_RUN_BEGINS, None, None))
        self.clock.begin(len(self.sites))
        return self.clock.now()

    def _end(self, noted: Sequence[Noted]) -> None:
        runs: list[list[Noted]] = []
        for one in noted:
            if one[0] == _RUN_BEGINS:
                runs.append([])
            elif runs:
                runs[-1].append(one)
        timed = [self.clock.seconds(run) for run in runs]
        self.blocks.append(block_seconds(self.sites, timed, self.mark))


def marked_runs(graph: Graph, clock: MarkClock, mark: float = 0.0) -> MarkedRuns | Unavailable:
    """Runs of the program of a lowered graph of a report, or why it cannot be given marks.

    Args:
        graph: With its kernels and its program.
        clock: To take the time with.
        mark: Seconds that it shows where nothing is between two marks.
    """
    if isinstance(graph.kernels, Unavailable):
        return graph.kernels
    if isinstance(graph.output_code, Unavailable):
        return graph.output_code
    program = marked_program(graph.output_code)
    if program.calls != tuple(kernel.call for kernel in graph.kernels):
        return Unavailable("the calls of the generated program are not those of the report")
    modules = loaded_programs(graph.output_code)
    if not modules:
        return Unavailable("the generated program of the report is not what torch has loaded")
    codes: list[tuple[FunctionType, CodeType]] = []
    for module in modules:
        for owner, definition in program.functions:
            function = function_of(module, owner, definition.name)
            if function is None or function.__code__.co_freevars:
                return Unavailable(f"the program's function {definition.name} is of another form")
            codes.append((function, _code(definition, module)))
    return MarkedRuns(clock, mark, program.sites, modules, codes)


def _code(definition: ast.FunctionDef, module: ModuleType) -> CodeType:
    """The code of a function; nothing is run."""
    tree = ast.Module([definition], [])
    compiled = compile(tree, module.__file__ or "<generated program>", "exec")
    return next(one for one in compiled.co_consts if isinstance(one, CodeType))
