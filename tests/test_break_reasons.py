"""Why a line breaks the graph, from hand-written breaks and source text; torch is not needed."""

from textwrap import dedent

import pytest

from graphlens.analysis.break_causes import with_causes
from graphlens.analysis.break_triggers import find_trigger
from graphlens.analysis.source_code import SourceFile
from graphlens.model import GraphBreak, SourceLocation


def source(text: str) -> SourceFile:
    return SourceFile("/home/me/p.py", dedent(text).strip("\n").splitlines())


def kinds(text: str, line: int = 2, columns: tuple[int, int] | None = None) -> list[str]:
    return [block.kind for block in source(text).blocks(line, columns)]


@pytest.mark.parametrize(
    "line",
    ["xs = [g(v) for v in h]", "foo(h, [g(v) for v in h])", "a = 1; b = [g(v) for v in h]"],
)
def test_a_comprehension_on_the_line_is_seen_wherever_it_stands(line: str) -> None:
    assert kinds(f"def f(h):\n    {line}\n") == ["comprehension"]


def test_only_the_part_of_the_line_that_is_marked_counts() -> None:
    text = "def f(h):\n    a = g(h); b = [g(v) for v in h]\n"
    assert kinds(text, 2, (8, 12)) == []
    assert kinds(text, 2, (19, 23)) == ["comprehension"]
    assert kinds(text, 2, (14, 35)) == ["comprehension"]


def test_blocks_are_those_of_the_function_innermost_first() -> None:
    text = """
        with outer:
            def f(h):
                for v in h:
                    with g(v) as w, k(v):
                        w = 1; print(w)
                return sorted(h, key=lambda v: [w for w in v])
    """
    assert kinds(text, 5) == ["with", "loop"]
    assert kinds(text, 4) == ["with", "loop"]
    assert kinds(text, 6) == ["comprehension"]


def test_every_statement_of_a_line_is_found() -> None:
    found = source("def f(x):\n    if x: y = 1; print(x)\n")
    assert [type(one).__name__ for one in found.statements(2)] == ["If", "Assign", "Expr"]
    assert [type(one).__name__ for one in found.statements(2, (17, 22))] == ["Expr"]


def trigger(
    code: str, cause: str, caret: tuple[int, int] | None = None, line: int = 1, context: str = ""
) -> tuple[str, tuple[int, int] | None]:
    found = source(code)
    here = GraphBreak(
        file=found.name,
        line=line,
        kind="a kind",
        code=found.lines[line - 1].strip(),
        caret=caret,
        context=context,
    )
    return find_trigger(here, cause, found)


def test_marks_count_wide_characters_as_two_columns() -> None:
    code = 'ψ = "日本語"; y = x * ε; foo(ψ, y.sum())'
    assert trigger(code, "other", (25, 40)) == ("foo(ψ, y.sum())", (22, 37))
    # Python 3.11.0 counts characters.
    assert trigger(code, "other", (22, 37)) == ("foo(ψ, y.sum())", (22, 37))


def test_marks_that_are_no_expression_are_not_made_into_one() -> None:
    code = "if i > 1: raise KeyError('no')"
    assert trigger(code, "user_exception", (10, 30)) == ("raise KeyError('no')", None)
    assert trigger(code, "user_exception") == ("raise KeyError('no')", None)
    assert trigger(code, "other", (10, 14)) == (code, None)
    assert trigger("while foo(x):", "other", (6, 13)) == ("foo(x)", (6, 12))


def test_a_condition_over_several_lines_is_whole() -> None:
    code = "if (\n    z.mean()\n    > 0\n):\n    y = 1\n"
    assert trigger(code, "data_dependent_branch", None, 2) == ("z.mean() > 0", (0, 8))
    assert trigger(code, "data_dependent_branch", None, 3) == ("z.mean() > 0", None)


def test_the_call_is_found_in_any_statement_of_the_line() -> None:
    assert trigger("a = 1; b = foo(a); print(a, b)", "print_call") == ("print(a, b)", (19, 30))
    assert trigger("print(1); print(y)", "print_call", (10, 18)) == ("print(y)", (10, 18))
    assert trigger("if v > 3: v = 3.0", "data_dependent_branch", (3, 17)) == ("v > 3", (3, 8))


LIBRARY = "/opt/venv/lib/python3.11/site-packages/transformers/models/gpt2/modeling_gpt2.py"
PROGRAM = """
def outside(model, x):
    with lock:
        return model(x)

class Outer:
    @decorated
    def forward(self, x):
        with scope:
            y = self.inner(x)
        return y

class Inner:
    def forward(self, x):
        print(x)
        return x
"""
FILES = {
    "/home/me/p.py": PROGRAM.strip("\n").splitlines(),
    LIBRARY: ["def wrapper(self, x):", "    if x.sum() > 0:", "        return x"],
}


def frame(line: int, function: str, file: str = "/home/me/p.py") -> SourceLocation:
    return SourceLocation(
        file=file, line=line, function=function, code=FILES[file][line - 1].strip()
    )


def reasoned(
    *stack: SourceLocation, root: SourceLocation | None, kind: str = "a kind", context: str = ""
) -> GraphBreak:
    own = [place for place in stack if place.file != LIBRARY][-1]
    found = GraphBreak(
        file=own.file,
        line=own.line,
        function=own.function,
        code=own.code,
        kind=kind,
        consequence="frame_skipped",
        context=context,
        points_to=stack[-1],
        stack=stack,
        compile_ids=("0/0",),
    )
    return with_causes([found], lambda name: FILES.get(name, ()), {"0/0": root} if root else {})[0]


def test_the_compiled_function_is_not_an_inner_one_of_its_name() -> None:
    stack = (frame(3, "outside"), frame(9, "forward"), frame(14, "forward"))
    assert reasoned(*stack, root=frame(6, "forward")).inside == SourceLocation(
        file="/home/me/p.py", line=8, code="with scope:"
    )
    assert reasoned(*stack, root=frame(13, "forward")).inside is None


def test_what_follows_a_break_is_of_the_same_function() -> None:
    stack = (frame(3, "outside"), frame(9, "torch_dynamo_resume_in_forward_at_8"))
    found = reasoned(*stack, root=frame(8, "torch_dynamo_resume_in_forward_at_8"))
    assert found.inside is not None
    assert found.inside.line == 8


def test_what_is_around_the_call_of_the_compiled_function_is_not_blamed() -> None:
    stack = (frame(3, "outside"), frame(2, "wrapper", LIBRARY))
    for root in (frame(1, "wrapper", LIBRARY), frame(1, "other", LIBRARY)):
        found = reasoned(*stack, root=root)
        assert found.inside is None
        line = "after line 2 " if root.function == "wrapper" else ""
        where = f"`{root.function}` of transformers.models.gpt2.modeling_gpt2"
        assert found.skipped_because == f"torch cannot go on {line}in {where}"


def test_a_break_in_a_compiled_library_is_said_to_be_there() -> None:
    stack = (frame(3, "outside"), frame(2, "wrapper", LIBRARY))
    found = reasoned(*stack, root=frame(1, "wrapper", LIBRARY), kind="Data-dependent branching")
    assert found.because == (
        "The break is in transformers's code at transformers/models/gpt2/modeling_gpt2.py:2: "
        "Data-dependent branching."
    )
    assert found.advice == ("Report it there, or replace that part.",)
    unseen = reasoned(*stack, root=frame(1, "other", LIBRARY), kind="Data-dependent branching")
    assert unseen.because == found.because
    printed = reasoned(
        *stack, root=frame(1, "wrapper", LIBRARY), context="builtin operator `print`"
    )
    assert (printed.cause, printed.fixes) == ("print_call", ())
    raised = reasoned(*stack, root=frame(1, "wrapper", LIBRARY), kind="Observed exception")
    assert raised.because.startswith("The program raises an exception;")
    called = reasoned(*stack, root=frame(1, "outside"), kind="Data-dependent branching")
    assert called.because == "`model(x)` runs library code that Dynamo cannot trace."


def advised(code: str, kind: str, context: str = "", explanation: str = "") -> GraphBreak:
    lines = ["import numpy as np", "import time", code]
    found = GraphBreak(
        file="p.py", line=3, code=code, kind=kind, context=context, explanation=explanation
    )
    return with_causes([found], lambda _: lines, {})[0]


def test_a_number_of_numpy_is_no_tensor() -> None:
    found = advised("s = np.random.rand()", "Data dependent operator")
    assert found.cause == "untraceable_library"
    assert "tensor" not in found.because
    assert "torch.rand" in found.advice[0]
    assert advised("s = np.ones(3); t = y.item()", "Data dependent operator").cause == (
        "tensor_to_python_number"
    )


def test_texts_say_no_more_than_is_known() -> None:
    found = advised("raise KeyError(1)", "Observed exception", "raised exception KeyError(1)")
    assert found.because == (
        "The program raises KeyError(1); torch gives up on the function for this call."
    )
    clock = advised(
        "t = time.time()",
        "Attempted to call function marked as skipped",
        "module: time, qualname: time, skip reason: none",
        "Dynamo does not know how to trace the builtin `time.time.`",
    )
    assert clock.advice == (
        "Measure time outside of the compiled function: the call breaks the graph, and what it "
        "gives becomes a constant or an input of what follows.",
    )
