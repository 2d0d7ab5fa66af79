"""Graphs as tables: for the terminal, GitHub, HTML and tools that read TSV."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from tabulate import tabulate

from graphlens.errors import UsageError
from graphlens.model import Graph, Node, Report
from graphlens.renderers import columns as c
from graphlens.renderers.columns import Row, graph_rows
from graphlens.renderers.escape import html_text, markdown_code, markdown_text, one_line
from graphlens.renderers.kernel_labels import kernel_labels
from graphlens.renderers.plain_table import plain_table
from graphlens.renderers.wording import Title, graph_title, symbol_text, wrapped

Format = Literal["plain", "github", "html", "tsv"]
FORMATS: tuple[str, ...] = get_args(Format)
NO_GRAPHS = "No graphs were captured."
_IN_CODE_SPANS = (c.NAME, c.OPERATOR, c.ARGUMENTS, c.KERNEL)


@dataclass(frozen=True, kw_only=True)
class TableRenderer:
    """Graphs as tables.

    Attributes:
        format: ``plain`` for a terminal, ``github`` for Markdown, ``html``, or ``tsv``, which has
            a row for every node whatever ``rows`` says.
        rows: Most operators shown of a graph; the middle is left out. None shows all.
        width: Columns of text that the plain format may use; None for no limit.
        root: Files below this folder are named relative to it.
    """

    format: Format = "plain"
    rows: int | None = 40
    width: int | None = None
    root: str = ""

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise UsageError(
                f"{self.format!r} is no table format. Use one of: {', '.join(FORMATS)}."
            )
        for name, number in (("rows", self.rows), ("width", self.width)):
            if number is not None and (not isinstance(number, int) or number < 1):
                raise UsageError(f"{name}={number!r}: give a whole number above 0, or None.")

    def report(self, report: Report) -> str:
        """All graphs, in the order of capture."""
        if self.format == "tsv":
            return _tsv(report.graphs, self.root, with_graph=True)
        if not report.graphs:
            return f"<p>{NO_GRAPHS}</p>\n" if self.format == "html" else NO_GRAPHS + "\n"
        return "\n".join(self.graph(graph) for graph in report.graphs)

    def graph(self, graph: Graph) -> str:
        """One graph: title, symbolic sizes, table, and a table for each subgraph."""
        if self.format == "tsv":
            return _tsv([graph], self.root, with_graph=False)
        parts = [self._head(graph_title(graph, self.root), [*map(symbol_text, graph.symbols)])]
        parts.append(self._nodes(graph.nodes, kernel_labels(graph)))
        for body in graph.subgraphs:
            count = sum(node.is_operator for node in body.nodes)
            noun = "operator" if count == 1 else "operators"
            heading = f"subgraph {one_line(body.name)} of {one_line(graph.id)}"
            parts.append(self._head(Title(heading, (f"{count} {noun}",)), []))
            parts.append(self._nodes(body.nodes, {}))
        return "\n".join(part for part in parts if part)

    def _head(self, title: Title, symbols: list[str]) -> str:
        if self.format == "html":
            lines = [title.heading, " · ".join(title.facts), *symbols]
            first, *rest = map(html_text, lines)
            return "".join([f"<p><b>{first}</b>", *(f"<br>{line}" for line in rest), "</p>"])
        if self.format == "github":
            facts = [" · ".join(map(markdown_text, title.facts)), *map(markdown_text, symbols)]
            return "\n".join([f"**{markdown_text(title.heading)}**", "", "  \n".join(facts), ""])
        sizes = [line for text in symbols for line in wrapped(text, self.width)]
        return "\n".join([*title.lines(self.width), *sizes])

    def _nodes(self, nodes: tuple[Node, ...], kernels: Mapping[str, str]) -> str:
        rows = graph_rows(nodes, self.root, self.rows, kernels=kernels)
        if self.format == "html":
            return html_table(rows)
        if self.format == "github":
            return github_table(rows)
        return plain_table(rows, self.width)


def github_table(rows: list[Row]) -> str:
    """Rows as a table of GitHub's Markdown; what could be markup stands in code spans."""
    names = _used(rows)
    cells = [
        [
            (markdown_code if name in _IN_CODE_SPANS and row.kind != "more" else markdown_text)(
                row.cells.get(name, "")
            )
            for name in names
        ]
        for row in rows
    ]
    return tabulate(cells, names, tablefmt="github", disable_numparse=True) + "\n"


def html_table(rows: list[Row]) -> str:
    """Rows as an HTML table; each cell's class is its column's name, each row's its kind.

    tabulate gives cells neither a class nor a scope, so this format is written here.
    """
    names = _used(rows)
    head = "".join(f'<th scope="col" class="{_css(name)}">{html_text(name)}</th>' for name in names)
    lines = ['<table class="nodes">', f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for row in rows:
        if row.kind == "more":
            text = html_text(row.cells[c.OPERATOR])
            body = f'<td colspan="{len(names)}">{text}</td>'
        else:
            body = "".join(
                f'<td class="{_css(name)}">{html_text(row.cells.get(name, ""))}</td>'
                for name in names
            )
        lines.append(f'<tr class="{row.kind}">{body}</tr>')
    return "\n".join([*lines, "</tbody></table>", ""])


def _css(name: str) -> str:
    return "c-number" if name == c.NUMBER else f"c-{name}"


def _used(rows: list[Row]) -> list[str]:
    return [name for name in c.COLUMNS if any(name in row.cells for row in rows)]


def _tsv(graphs: Iterable[Graph], root: str, with_graph: bool) -> str:
    """Every node of every graph, all columns always, for tools to read."""
    first = ["graph"] if with_graph else []
    lines = [[*first, "subgraph", *c.COLUMNS]]
    for graph in graphs:
        kernels = kernel_labels(graph)
        bodies = [("", graph.nodes), *((body.name, body.nodes) for body in graph.subgraphs)]
        for body, nodes in bodies:
            start = [*([graph.id] if with_graph else []), body]
            lines += [
                [*start, *(row.cells.get(name, "") for name in c.COLUMNS)]
                for row in graph_rows(nodes, root, everything=True, kernels={} if body else kernels)
            ]
    # tabulate pads the cells of its tsv format with spaces, which readers would have to strip.
    return "".join("\t".join(map(one_line, line)) + "\n" for line in lines)
