"""A comparison as lines of Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from tabulate import tabulate

from graphlens.model import Accuracy, Payback, Report, StepParts
from graphlens.renderers import slowest_kernels
from graphlens.renderers.accuracy_table import markdown_table
from graphlens.renderers.comparison import (
    ACCURACY_COLUMNS,
    COMPILE_COLUMNS,
    ERROR_COLUMNS,
    NUMBERS,
    STEP_COLUMNS,
    TIMING_COLUMNS,
    accuracy_rows,
    compile_gaps,
    compile_rows,
    facts,
    has_comparison,
    step_rows,
    step_sum,
    timing_conditions,
    timing_gaps,
    timing_rows,
    verdict_in_words,
)
from graphlens.renderers.escape import html_text, markdown_prose, markdown_text
from graphlens.renderers.wording import graph_title


def comparison_facts(report: Report) -> Iterator[str]:
    """Whether the program is right, is faster, and pays; nothing where it was not compared."""
    found = facts(report)
    if found:
        yield ""
    for fact in found:
        yield f"- **{markdown_text(fact.name)}:** {markdown_prose(fact.text)}"


def comparison_tables(report: Report, root: str) -> Iterator[str]:
    """Its tables, those of single tensors folded; nothing where it was not compared."""
    if not has_comparison(report):
        return
    yield from ("", "## Comparison with eager")
    yield from _section("Accuracy", ACCURACY_COLUMNS, accuracy_rows(report, root), [ERROR_COLUMNS])
    conditions = [timing_conditions(report), *timing_gaps(report)]
    rows = timing_rows(report)
    yield from _section("Times", TIMING_COLUMNS, rows, conditions)
    step, payback = report.step, report.payback
    if isinstance(step, StepParts):
        rows = step_rows(step, report, root)
        yield from _section("Where the time of a step goes", STEP_COLUMNS, rows, [step_sum(step)])
    said = slowest_kernels.kernel_remarks(report)
    rows = slowest_kernels.slowest_rows(report, root)
    yield from _section(slowest_kernels.HEADING, slowest_kernels.COLUMNS, rows, said)
    if isinstance(payback, Payback):
        gaps = list(compile_gaps(payback))
        yield from _section("Compilation", COMPILE_COLUMNS, compile_rows(payback), gaps)
    for graph in report.graphs:
        if isinstance(graph.accuracy, Accuracy) and graph.accuracy.tensors:
            verdict = html_text(verdict_in_words(graph.accuracy.verdict))
            heading = html_text(graph_title(graph, root).heading)
            yield f"\n<details><summary>Tensors of {heading}: {verdict}</summary>\n"
            yield "\n".join(markdown_table(graph.accuracy)).rstrip("\n ")
            yield "\n</details>"


def _section(
    heading: str, columns: Sequence[str], rows: Sequence[Mapping[str, str]], remarks: Sequence[str]
) -> Iterator[str]:
    if not rows:
        return
    used = [name for name in columns if any(row.get(name) for row in rows)]
    yield from ("", f"### {heading}", "")
    yield tabulate(
        [[markdown_text(row.get(name, "")) for name in used] for row in rows],
        used,
        tablefmt="github",
        disable_numparse=True,
        colalign=["right" if name in NUMBERS else "left" for name in used],
    )
    for text in remarks:
        yield from ("", markdown_prose(text))
