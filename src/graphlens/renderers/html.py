"""A report as one HTML page that needs nothing else: no script, no network, no other file.

Everything of the user's program goes through jinja2's autoescape. A Content-Security-Policy in
the page forbids scripts and requests, so a name that slipped through could still do nothing.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from graphlens.model import Environment as RunEnvironment
from graphlens.model import Graph, Node, Report, Unavailable
from graphlens.renderers.columns import graph_rows
from graphlens.renderers.comparison_page import comparison_page, graph_page
from graphlens.renderers.escape import html_prose, one_line, printable
from graphlens.renderers.findings import findings
from graphlens.renderers.headline import unknowns
from graphlens.renderers.overview import (
    FRAME_COLUMNS,
    GRAPH_COLUMNS,
    frame_overview,
    graphs_overview,
)
from graphlens.renderers.page_table import PageTable
from graphlens.renderers.summary import NOTHING
from graphlens.renderers.svg import SvgRenderer
from graphlens.renderers.table import html_table
from graphlens.renderers.tiles import tiles
from graphlens.renderers.wording import counted, graph_title, symbol_text

MOST_NODES = 1500
MOST_DIAGRAM_BYTES = 24 * 2**20
MOST_CODE = 400_000


@dataclass(frozen=True, kw_only=True)
class HtmlRenderer:
    """A report as one offline page.

    Attributes:
        rows: Most operators shown of a graph's table; the middle is left out. None shows all.
        diagrams: Whether graphs are drawn; those of more than 1,500 nodes never are.
        root: Files below this folder are named relative to it.
    """

    rows: int | None = 1000
    diagrams: bool = True
    root: str = ""

    def report(self, report: Report) -> str:
        """The page of a report."""
        known = bool(report.graphs or report.frames or unknowns(report))
        return _template("report.html.jinja").render(
            title="What torch.compile did",
            css=_css(),
            nothing="" if known else NOTHING,
            tiles=tiles(report) if known else (),
            unknowns=unknowns(report),
            findings=findings(report, self.root),
            comparison=comparison_page(report, self.root),
            frames=PageTable.of(
                FRAME_COLUMNS, [frame_overview(f, self.root) for f in report.frames]
            ),
            overview=PageTable.of(GRAPH_COLUMNS, graphs_overview(report.graphs, self.root)),
            graphs=list(self._graphs(report.graphs)),
            notes=[[one_line(n.code), one_line(n.message), one_line(n.hint)] for n in report.notes],
            environment=_environment(report),
            probes=report.environment.probes,
        )

    def graph(self, graph: Graph) -> str:
        """The page of one graph."""
        heading = graph_title(graph, self.root).heading
        template = _template("graph.html.jinja")
        return template.render(
            title=heading,
            css=_css(),
            graph=next(self._graphs((graph,))),
            comparison=graph_page(graph, self.root),
        )

    def _graphs(self, graphs: Sequence[Graph]) -> Iterator[dict[str, Any]]:
        left = MOST_DIAGRAM_BYTES
        for index, graph in enumerate(graphs):
            diagram, remark = self._diagram(graph, index, left)
            left -= len(diagram)
            title = graph_title(graph, self.root)
            yield {
                "anchor": f"graph-{index + 1}",
                "heading": title.heading,
                "facts": title.facts,
                "sizes": [symbol_text(symbol) for symbol in graph.symbols],
                "diagram": diagram,
                "remark": remark,
                "table": self._table(graph.nodes),
                "subgraphs": [
                    {
                        "heading": f"subgraph {one_line(body.name)}",
                        "table": self._table(body.nodes),
                    }
                    for body in graph.subgraphs
                ],
                "code": list(_code(graph)),
            }

    def _table(self, nodes: tuple[Node, ...]) -> Markup:
        # Safe: html_table escapes every cell itself.
        return Markup(html_table(graph_rows(nodes, self.root, self.rows)))  # noqa: S704

    def _diagram(self, graph: Graph, index: int, left: int) -> tuple[str, str]:
        """The diagram as a data URI, or why there is none.

        An image of its own keeps the drawing's styles from the page's and the page's from it.
        """
        save = f'report.graphs[{index}].save("graph.svg")'
        if not self.diagrams:
            return "", f"Not drawn here; {save} draws it."
        if len(graph.nodes) > MOST_NODES:
            nodes = counted(len(graph.nodes), "node")
            return "", f"Too large to draw in this page ({nodes}); {save} draws it."
        svg = SvgRenderer().graph(graph).encode("utf-8", errors="backslashreplace")
        uri = "data:image/svg+xml;base64," + b64encode(svg).decode("ascii")
        if len(uri) > left:
            return "", f"This page has reached its size limit; {save} draws it."
        return uri, ""


def _code(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Heading, text and remark of each program that belongs to the graph."""
    for heading, text in (("Graph as Python", graph.code), ("Generated code", graph.output_code)):
        if isinstance(text, Unavailable):
            yield heading, "", one_line(text.reason)
        else:
            left_out = len(text) - MOST_CODE
            remark = f"{left_out:,} more characters are in report.json." if left_out > 0 else ""
            yield heading, printable(text[:MOST_CODE]), remark


def _environment(report: Report) -> list[tuple[str, str]]:
    e = report.environment
    threads = f"not known: {e.threads.reason}" if isinstance(e.threads, Unavailable) else e.threads
    pairs = [
        ("graphlens", e.graphlens),
        ("torch", e.torch),
        ("Python", e.python),
        ("platform", e.platform),
        ("devices", _devices(e)),
        ("threads", str(threads)),
        ("report format", report.schema),
    ]
    return [(name, one_line(text)) for name, text in pairs if text]


@cache
def _environment_of_templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("graphlens.renderers", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = lambda text: Markup(html_prose(text))  # noqa: S704 - escapes
    return environment


def _template(name: str) -> Template:
    return _environment_of_templates().get_template(name)


@cache
def _css() -> Markup:
    loader = _environment_of_templates().loader
    assert loader is not None  # noqa: S101
    source, _, _ = loader.get_source(_environment_of_templates(), "report.css")
    return Markup(source)  # noqa: S704 - our own file


def _devices(environment: RunEnvironment) -> str:
    if isinstance(environment.devices, Unavailable):
        return str(environment.devices)
    return ", ".join(environment.devices) or "CPU only"
