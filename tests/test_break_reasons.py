"""Why a line breaks the graph, from hand-written breaks and source text; torch is not needed."""

from textwrap import dedent

import pytest

from graphlens.analysis.break_triggers import find_trigger
from graphlens.analysis.source_code import SourceFile
from graphlens.model import GraphBreak


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
