"""A line that breaks for several reasons is one finding, which names each."""

import msgspec

import report_corpus as corpus
from graphlens.model import GraphBreak, Report, SourceLocation
from graphlens.renderers.findings import CodeLine, Finding, findings
from graphlens.renderers.html import HtmlRenderer
from graphlens.renderers.markdown import MarkdownRenderer
from graphlens.renderers.summary import SummaryRenderer

ITEM = GraphBreak(
    file="f.py", line=3, code="s = a.item(); print(b)", kind="Odd", function="f",
    cause="tensor_to_python_number", trigger="a.item()", caret=(4, 12), hits=1,
    because="`a.item()` turns a tensor into a number.", advice=("Keep it.", "Or else."),
)  # fmt: skip
PRINT = msgspec.structs.replace(
    ITEM, kind="Even", cause="print_call", trigger="print(b)", caret=(14, 22),
    because="`print(b)` writes.", advice=("Print outside.",),
)  # fmt: skip


def finding(*breaks: GraphBreak) -> Finding:
    (found,) = findings(report(*breaks))
    return found


def report(*breaks: GraphBreak) -> Report:
    return Report(environment=corpus.ENVIRONMENT, breaks=breaks)


def test_each_cause_is_named_and_counted_with_its_advice() -> None:
    found = finding(ITEM, PRINT)
    assert found.title == "a tensor turned into a Python number and a print"
    assert found.cause == "tensor_to_python_number, print_call"
    assert found.why == (ITEM.because, PRINT.because)
    assert found.advice == ("Keep it.", "Print outside.", "Or else.")
    assert found.facts[0] == (
        "causes",
        "2 on this line: `a.item()`, a tensor turned into a Python number; `print(b)`, a print",
    )
    assert found.code == (CodeLine(3, ITEM.code, 4, 12, ((14, 22),)),)


def test_all_formats_show_them() -> None:
    text = SummaryRenderer(width=100).report(report(ITEM, PRINT))
    assert "    3 | s = a.item(); print(b)\n      |     ^^^^^^^^  ~~~~~~~~\n" in text
    assert "= do: Keep it.\n   = do: Print outside.\n" in text
    page = HtmlRenderer().report(report(ITEM, PRINT))
    assert "s = <mark>a.item()</mark>; <mark>print(b)</mark></code>" in page
    lines = MarkdownRenderer().report(report(ITEM, PRINT)).split("\n")
    assert any(line.endswith("    ^^^^^^^^  ~~~~~~~~") for line in lines)


def test_one_inside_of_another_is_marked_apart() -> None:
    code = "print(y.item())"
    assert CodeLine(3, code, 6, 14, ((0, 15),)).marks == "~~~~~~^^^^^^^^~"
    assert CodeLine(3, code, 6, 14, ((0, 15),)).pieces == ((code, True),)
    assert CodeLine(3, code, 6, 14).pieces == (("print(", False), ("y.item()", True), (")", False))
    assert CodeLine(3, code).marks == ""


def test_as_many_causes_as_there_are_get_their_advice_in_text() -> None:
    many = [
        msgspec.structs.replace(
            ITEM, kind=f"kind {n}", trigger=f"t{n}", because=f"because {n}", advice=(f"do {n}",)
        )
        for n in range(5)
    ]
    text = SummaryRenderer(width=100).report(report(*many))
    assert all(f"= why: because {n}\n" in text and f"= do: do {n}\n" in text for n in range(5))


def test_two_reasons_of_torchs_for_one_expression_are_one_cause() -> None:
    found = finding(ITEM, msgspec.structs.replace(ITEM, kind="Other words"))
    assert (found.causes, found.why) == (1, (ITEM.because,))
    assert [name for name, _ in found.facts] == ["torch says"]


def test_a_break_that_is_intended_does_not_hide_one_that_is_not() -> None:
    meant = msgspec.structs.replace(PRINT, cause="disabled_function", trigger="g(b)")
    assert finding(meant).kind == "intended"
    found = finding(meant, ITEM)
    assert found.kind == "break"
    assert found.title == (
        "a tensor turned into a Python number and a function marked with torch.compiler.disable"
    )


def test_lines_of_one_call_of_a_library_are_named_and_the_call_is_what_to_change() -> None:
    def inner(line: int, code: str) -> GraphBreak:
        place = SourceLocation(
            file="/opt/venv/lib/python3.11/site-packages/kit/a.py", line=line, code=code
        )
        return msgspec.structs.replace(
            ITEM, kind=f"kind {line}", cause="untraceable_library", trigger="kit.norm(x)",
            points_to=place, library_function="kit.norm", because=f"because {line}",
            advice=(f"do {line}",),
        )  # fmt: skip

    found = finding(inner(7, "open(x)"), inner(9, "x.dtype.char"))
    assert found.title == "kit.norm, a library function that Dynamo cannot trace"
    assert found.facts[0] == (
        "causes", "2 in `kit.norm(x)`: `open(x)` (kit/a.py:7); `x.dtype.char` (kit/a.py:9)"
    )  # fmt: skip
    assert (found.why, found.advice) == (("because 7",), ("do 7",))
    both = finding(inner(7, "open(x)"), PRINT)
    assert both.title == "a print and kit.norm, a library function that Dynamo cannot trace"
    assert both.facts[0] == (
        "causes",
        "2 on this line: `print(b)`, a print; `kit.norm(x)`, a library that Dynamo cannot trace, "
        "at `open(x)` (kit/a.py:7)",
    )
