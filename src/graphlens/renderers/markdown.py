"""A report as GitHub's Markdown, for pull requests, issues and pages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from graphlens.model import Graph, Report
from graphlens.renderers.comparison_markdown import comparison_facts, comparison_tables
from graphlens.renderers.escape import html_text, markdown_code, markdown_prose, markdown_text
from graphlens.renderers.findings import CodeLine, Finding, Remedy, findings
from graphlens.renderers.gpu_table import gpu_markdown
from graphlens.renderers.headline import headline, unknowns
from graphlens.renderers.kernel_table import kernel_markdown
from graphlens.renderers.overview import (
    FRAME_COLUMNS,
    GRAPH_COLUMNS,
    NUMBERS,
    frame_overview,
    graphs_overview,
)
from graphlens.renderers.summary import NOTHING, environment_line
from graphlens.renderers.table import TableRenderer
from graphlens.renderers.wording import graph_title


@dataclass(frozen=True, kw_only=True)
class MarkdownRenderer:
    """A report as Markdown.

    Attributes:
        rows: Most operators shown of a graph; the middle is left out. None shows all.
        root: Files below this folder are named relative to it.
    """

    rows: int | None = 40
    root: str = ""

    def report(self, report: Report) -> str:
        """Counts, findings, frames, graphs, notes."""
        return "\n".join(self._lines(report)) + "\n"

    def graph(self, graph: Graph) -> str:
        """One graph's title and table, and its kernels."""
        table = TableRenderer(format="github", rows=self.rows, root=self.root).graph(graph)
        kernels = (kernel_markdown(graph, self.rows, self.root), gpu_markdown(graph, self.rows))
        return "\n".join(filter(None, [table, *kernels]))

    def _lines(self, report: Report) -> Iterator[str]:
        yield "# What torch.compile did"
        yield ""
        if not (report.graphs or report.frames or unknowns(report)):
            yield NOTHING
        else:
            yield f"**{markdown_text(headline(report))}**"
        yield from comparison_facts(report)
        for name, reason in unknowns(report):
            yield f"\n{name.capitalize()} unknown: {markdown_text(reason)}"
        found = findings(report, self.root)
        if found:
            yield from ("", "## Findings")
        for item in found:
            yield from self._finding(item)
        yield from comparison_tables(report, self.root)
        if report.frames:
            yield from ("", "## Functions", "")
            rows = [frame_overview(frame, self.root) for frame in report.frames]
            yield _table(FRAME_COLUMNS, rows)
        if report.graphs:
            yield from ("", "## Graphs", "")
            yield _table(GRAPH_COLUMNS, graphs_overview(report.graphs, self.root))
        for graph in report.graphs:
            heading = html_text(graph_title(graph, self.root).heading)
            yield f"\n<details><summary>{heading}</summary>\n"
            yield self.graph(graph).rstrip("\n")
            yield "\n</details>"
        if report.notes:
            yield from ("", "## Notes", "")
        for note in report.notes:
            hint = f" {markdown_text(note.hint)}" if note.hint else ""
            yield f"- {markdown_code(note.code)}: {markdown_prose(note.message)}{hint}"
        yield from ("", markdown_text(environment_line(report.environment)))

    def _finding(self, item: Finding) -> Iterator[str]:
        yield from ("", f"### {item.label.capitalize()}: {markdown_prose(item.title)}", "")
        function = f" in {markdown_code(item.function)}" if item.function else ""
        cause = f", cause {markdown_code(item.cause)}" if item.cause else ""
        yield f"{markdown_code(item.place)}{function}{cause}"
        if item.code:
            yield from (
                "",
                *_fenced("python", [line for one in item.code for line in _quoted(one)]),
            )
        if item.why:
            yield from ("", "  \n".join(map(markdown_prose, item.why)))
        facts = [f"- cost: {markdown_text(item.cost)}"] if item.cost else []
        facts += [f"- {markdown_text(name)}: {markdown_prose(text)}" for name, text in item.facts]
        facts += [f"- **do:** {markdown_prose(text)}" for text in item.advice]
        if facts:
            yield from ("", *facts)
        for remedy in item.remedies:
            yield from ("", *_remedy(remedy))


def _remedy(remedy: Remedy) -> Iterator[str]:
    tried = f" **{markdown_text(remedy.tried)}**" if remedy.tried else ""
    caution = f" Note: {markdown_prose(remedy.caution)}" if remedy.caution else ""
    yield f"{markdown_prose(remedy.title)}:{tried}{caution}"
    yield ""
    if remedy.diff:
        header = [f"--- {remedy.file}", f"+++ {remedy.file}"]
        yield from _fenced("diff", [*header, *remedy.diff])
    else:
        yield from _fenced("python", [remedy.code])


def _quoted(one: CodeLine) -> list[str]:
    quoted = [f"{one.number:>5}   {one.text}"]
    return [*quoted, f"        {one.marks}"] if one.marks else quoted


def _fenced(language: str, lines: Sequence[str]) -> list[str]:
    """A fenced block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, *lines, fence]


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    used = [name for name in columns if any(row.get(name) for row in rows)]
    return tabulate(
        [[markdown_text(row.get(name, "")) for name in used] for row in rows],
        used,
        tablefmt="github",
        disable_numparse=True,
        colalign=["right" if name in NUMBERS else "left" for name in used],
    )
