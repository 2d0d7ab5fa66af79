"""A comparison as data for the templates of pages."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from graphlens.model import Accuracy, Graph, Payback, Report, StepParts, Timing
from graphlens.renderers import accuracy_table as tensors
from graphlens.renderers import slowest_kernels
from graphlens.renderers.comparison import (
    ACCURACY_COLUMNS,
    COMPILE_COLUMNS,
    ERROR_COLUMNS,
    NUMBERS,
    STEP_COLUMNS,
    TIMING_COLUMNS,
    Fact,
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
    timings_of,
    verdict_in_words,
)
from graphlens.renderers.page_table import PageTable
from graphlens.renderers.timings_svg import TimingsRenderer
from graphlens.renderers.wording import counted, graph_title

MOST_TENSORS = 200


@dataclass(frozen=True)
class Section:
    """A table with its heading and what is said under it."""

    heading: str
    table: PageTable
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ComparisonPage:
    """What a page shows of a comparison.

    Attributes:
        facts: Whether the program is right, is faster, and pays.
        chart: The bar chart of times as a data URI; empty where nothing was timed.
        sections: Tables of the whole.
        details: Of each compared graph its tensors, to be folded.
    """

    facts: tuple[Fact, ...]
    chart: str
    sections: tuple[Section, ...]
    details: tuple[Section, ...]


def comparison_page(report: Report, root: str) -> ComparisonPage | None:
    """What the page of a report shows; None where nothing was compared."""
    if not has_comparison(report):
        return None
    sections = [
        Section(
            "Accuracy",
            PageTable.of(ACCURACY_COLUMNS, accuracy_rows(report, root), NUMBERS),
            (ERROR_COLUMNS,),
        ),
        Section(
            "Times",
            PageTable.of(TIMING_COLUMNS, timing_rows(report), NUMBERS),
            (timing_conditions(report), *timing_gaps(report)),
        ),
    ]
    if isinstance(report.step, StepParts):
        table = PageTable.of(STEP_COLUMNS, step_rows(report.step, report, root), NUMBERS)
        sections.append(Section("Where the time of a step goes", table, (step_sum(report.step),)))
    slowest = slowest_kernels.slowest_rows(report, root)
    said = tuple(slowest_kernels.kernel_remarks(report))
    table = PageTable.of(slowest_kernels.COLUMNS, slowest, NUMBERS)
    sections.append(Section(slowest_kernels.HEADING, table, said))
    if isinstance(report.payback, Payback):
        table = PageTable.of(COMPILE_COLUMNS, compile_rows(report.payback), NUMBERS)
        sections.append(Section("Compilation", table, tuple(compile_gaps(report.payback))))
    chart = TimingsRenderer(root=root).report(report) if timings_of(report) else ""
    return ComparisonPage(
        tuple(facts(report)),
        _image(chart),
        tuple(section for section in sections if section.table.rows),
        _details(report.graphs, root),
    )


def graph_page(graph: Graph, root: str) -> ComparisonPage | None:
    """What the page of one graph shows; None where it was not compared."""
    details = _details((graph,), root)
    timed = isinstance(graph.timing, Timing)
    if not details and not timed:
        return None
    chart = TimingsRenderer(root=root).graph(graph) if timed else ""
    return ComparisonPage((), _image(chart), (), details)


def _details(graphs: Sequence[Graph], root: str) -> tuple[Section, ...]:
    found = []
    for graph in graphs:
        accuracy = graph.accuracy
        if not isinstance(accuracy, Accuracy) or not accuracy.tensors:
            continue
        rows, reasons, left_out = tensors.tensor_rows(accuracy, MOST_TENSORS)
        more = [f"{counted(left_out, 'more tensor')}: report.json"] if left_out else []
        table = PageTable.of(tensors.COLUMNS, rows, tensors.NUMBERS)
        verdict = verdict_in_words(accuracy.verdict)
        heading = f"{graph_title(graph, root).heading}: {verdict}"
        basis = tensors.basis(accuracy)
        found.append(Section(heading, table, (f"{basis[0].upper()}{basis[1:]}.", *more, *reasons)))
    return tuple(found)


def _image(svg: str) -> str:
    """A picture as a data URI: so its styles stay its own; empty for none."""
    if not svg:
        return ""
    data = svg.encode("utf-8", errors="backslashreplace")
    return "data:image/svg+xml;base64," + b64encode(data).decode("ascii")
