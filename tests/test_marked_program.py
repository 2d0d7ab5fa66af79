"""Marks in a generated program, and the times that are taken at them."""

import ast
from textwrap import dedent

import pytest

from graphlens.analysis.kernel_times import block_seconds, seconds_by_call, timed_kernels
from graphlens.analysis.marked_program import BEGIN, NOTE, NOW, WHOLE, marked_program
from graphlens.model import KernelTimes, Measured, Unavailable
from test_kernels import CASES, kernels, text

PROGRAM = dedent("""
    def subgraph_0(args):
        x, = args
        buf9 = torch.ops.aten.cos.default(x)
        return (buf9,)

    class Runner:
        def call(self, args):
            x, = args
            buf0 = extern_kernels.mm(x, x)
            subgraph_0([buf0])
            extern_kernels.addmm(x, buf0, x, out=buf0)
            subgraph_0([buf0])
            return (buf0,)
""")


def run(program: str, functions):
    """Runs a program with marks on a clock that goes one tick at a look and ten at a kernel."""
    seconds, noted = [0], []

    def now():
        seconds[0] += 1
        return seconds[0]

    def kernel(*_, **__):
        seconds[0] += 10

    class Kernels:
        mm = addmm = default = cos = aten = staticmethod(kernel)

    kernel.aten, kernel.cos, kernel.default = kernel, kernel, kernel
    scope = {"extern_kernels": Kernels, "torch": type("torch", (), {"ops": kernel})}
    scope |= {NOW: now, NOTE: noted.append, BEGIN: now}
    exec(program, scope)
    for each in functions:
        exec(compile(ast.Module([each.definition], []), "marked", "exec"), scope)
    result = scope["call"](None, [1])
    return result, [(site, end - start) for site, start, end in noted]


def test_every_call_stands_between_two_looks_at_a_clock():
    made = marked_program(PROGRAM)
    # The function that is called twice has one site, and its call is listed twice.
    assert made.sites == (0, 1, 2, 1)
    assert [call.partition("(")[0] for call in made.calls] == [
        "extern_kernels.mm", "torch.ops.aten.cos.default", "extern_kernels.addmm",
        "torch.ops.aten.cos.default",
    ]  # fmt: skip
    assert [(f.owner, f.definition.name) for f in made.functions] == [
        ("", "subgraph_0"), ("Runner", "call"),
    ]  # fmt: skip
    result, noted = run(PROGRAM, made.functions)
    assert result == (None,)
    assert noted[:-1] == [(0, 11), (1, 11), (2, 11), (1, 11)]
    assert noted[-1] == (WHOLE, 4 * 11 + 4 + 1)


@pytest.mark.parametrize("case", CASES)
def test_programs_of_inductor_list_the_kernels_of_the_report(case):
    made = marked_program(text(case, "program.py.txt"))
    assert made.calls == tuple(kernel.call for kernel in kernels(case))
    assert made.sites == tuple(range(len(made.calls)))
    (call,) = (f for f in made.functions if f.definition.name == "call")
    marked = ast.unparse(call.definition)
    assert marked.count(f"{NOTE}(") == len(made.calls) + 1
    compile(ast.Module([call.definition], []), case, "exec")


def test_runs_are_joined_to_the_calls_in_order():
    assert seconds_by_call((0, 1, 0), [(0, 1.0), (1, 2.0), (0, 3.0)]) == [1.0, 2.0, 3.0]
    # The other side of a branch did not run; the call of a loop ran twice.
    assert seconds_by_call((0, 1, 2), [(0, 1.0), (2, 3.0), (2, 4.0)]) == [1.0, None, 7.0]
    # Of a function that is called in both, which call is which is lost.
    assert seconds_by_call((0, 1, 0), [(0, 1.0)]) == [None, None, None]


def test_a_block_has_means_and_the_program_as_a_whole():
    runs = [[(0, 1.0), (1, 2.0), (WHOLE, 4.0)], [(0, 3.0), (1, 2.0), (WHOLE, 6.0)]]
    assert block_seconds((0, 1), runs) == ([2.0, 2.0], 4.0, 5.0)
    assert block_seconds((0, 1), []) is None
    # Which call is which is lost, but not what they take together.
    lost = block_seconds((0, 1, 0), [[(0, 1.5), (WHOLE, 4.0)]], 0.5)
    assert lost == ([None, None, None], 1.0, 3.0)


def test_kernels_add_up_in_each_round():
    runs = [[(0, 1.1), (1, n + 0.1), (WHOLE, n + 2.4)] for n in range(9)]
    blocks = [block_seconds((0, 1), [run], 0.1) for run in runs]
    found = timed_kernels(blocks, [n + 3.0 for n in range(9)], 0.1)
    times = found.times
    assert isinstance(times, KernelTimes)
    assert [each.median for each in found.seconds] == pytest.approx([1.0, 4.0])
    assert times.kernels.median == pytest.approx(5.0)  # 1 + 4
    assert times.program.median == pytest.approx(6.0)  # 4 + 2.4, less 2 marks of 2 * 0.1
    assert times.between.median == pytest.approx(1.0)
    assert times.around.median == pytest.approx(1.0)
    assert times.covered.median == pytest.approx(5 / 7)
    assert times.kernels.rounds == 9


def test_what_cannot_be_told_says_why():
    nothing = timed_kernels([None] * 9, [1.0] * 9, 0.0)
    assert nothing.seconds == ()
    assert "CUDA graph" in nothing.times.reason
    few = timed_kernels([block_seconds((0,), [[(0, 1.0)]])] * 3, [1.0] * 3, 0.0)
    assert few.times.reason == "3 of at least 6 rounds"
    branch = [block_seconds((0, 1), [[(0, 1.0), (WHOLE, 2.0)]])] * 9
    taken, left = timed_kernels(branch, [2.0] * 9, 0.0).seconds
    assert isinstance(taken, Measured)
    assert isinstance(left, Unavailable)
