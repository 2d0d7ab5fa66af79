"""A report as one HTML page that needs nothing else: no network, no other file.

Everything of the user's program goes through jinja2's autoescape, or is data that the page's own
script puts into text nodes. A Content-Security-Policy in the page allows that one script and
these style sheets by their hashes, and no request, so a name that slipped through could still do
nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from graphlens.model import Environment as RunEnvironment
from graphlens.model import Graph, Report, Unavailable
from graphlens.renderers.comparison_page import comparison_page, graph_page
from graphlens.renderers.escape import html_prose, one_line
from graphlens.renderers.findings import findings
from graphlens.renderers.graph_section import GraphSection, graph_section, without_viewer
from graphlens.renderers.headline import unknowns
from graphlens.renderers.map_svg import MapRenderer
from graphlens.renderers.overview import (
    FRAME_COLUMNS,
    GRAPH_COLUMNS,
    frame_overview,
    graphs_overview,
)
from graphlens.renderers.packed import packed
from graphlens.renderers.page_table import PageTable
from graphlens.renderers.policy import content_policy, inner_styles
from graphlens.renderers.script import viewer_script
from graphlens.renderers.summary import NOTHING
from graphlens.renderers.tiles import tiles
from graphlens.renderers.viewer_style import family_style, viewer_style
from graphlens.renderers.wording import graph_title

MOST_DIAGRAM_BYTES = 24 * 2**20
MOST_PICTURES = 2**20
"""Static pictures, which only readers without scripts see, may take that many characters."""


@dataclass(frozen=True, kw_only=True)
class HtmlRenderer:
    """A report as one offline page.

    Attributes:
        diagrams: Whether graphs are also static pictures, for readers without scripts.
        compress: Whether the data of the graphs is compressed, which browsers from before 2023
            cannot read.
        root: Files below this folder are named relative to it.
    """

    diagrams: bool = True
    compress: bool = True
    root: str = ""

    def report(self, report: Report) -> str:
        """The page of a report."""
        known = bool(report.graphs or report.frames or unknowns(report))
        sections = self._sections(report.graphs)
        links = {g.id: f"#{s.anchor}" for g, s in zip(report.graphs, sections, strict=True)}
        program_map = MapRenderer(root=self.root, links=links).report(report) if links else ""
        return _template("report.html.jinja").render(
            _frame("What torch.compile did", sections, program_map),
            nothing="" if known else NOTHING,
            tiles=tiles(report) if known else (),
            unknowns=unknowns(report),
            findings=findings(report, self.root),
            program_map=Markup(program_map),  # noqa: S704 - the map renderer escapes all text
            comparison=comparison_page(report, self.root),
            frames=PageTable.of(
                FRAME_COLUMNS, [frame_overview(f, self.root) for f in report.frames]
            ),
            overview=PageTable.of(GRAPH_COLUMNS, graphs_overview(report.graphs, self.root)),
            graphs=sections,
            notes=[[one_line(n.code), one_line(n.message), one_line(n.hint)] for n in report.notes],
            environment=_environment(report),
            probes=report.environment.probes,
        )

    def graph(self, graph: Graph) -> str:
        """The page of one graph."""
        sections = self._sections((graph,))
        return _template("graph.html.jinja").render(
            _frame(graph_title(graph, self.root).heading, sections),
            graph=sections[0],
            comparison=graph_page(graph, self.root),
        )

    def _sections(self, graphs: Iterable[Graph]) -> list[GraphSection]:
        """Sections of all graphs, those beyond the page's size limit without a viewer."""
        left, pictures = MOST_DIAGRAM_BYTES, MOST_PICTURES
        found: list[GraphSection] = []
        for index, graph in enumerate(graphs):
            drawn = self.diagrams and pictures > 0
            section = graph_section(graph, index, self.root, drawn, self.compress)
            if len(section.data) + len(section.picture) > left:
                section = without_viewer(section, index)
            left -= len(section.data) + len(section.picture)
            pictures -= len(section.picture)
            found.append(section)
        return found


def _frame(title: str, sections: Iterable[GraphSection], program_map: str = "") -> dict[str, Any]:
    """What the head of every page needs: its style, its script, and the policy that allows them."""
    css, script = f"\n{_css()}", f"\n{viewer_script()}"
    inner = [style for section in sections for style in section.styles]
    styles = [css, *inner, *inner_styles(program_map)]
    return {
        "title": title,
        "css": Markup(css),  # noqa: S704 - our own files
        "script": Markup(script),  # noqa: S704 - our own files
        "style_data": Markup(packed(viewer_style(), compress=False)),  # noqa: S704 - JSON, escaped
        "policy": content_policy([script], styles),
    }


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
def _css() -> str:
    environment = _environment_of_templates()
    assert environment.loader is not None  # noqa: S101
    sheets = [
        environment.loader.get_source(environment, name)[0] for name in ("report.css", "viewer.css")
    ]
    return "\n".join([*sheets, family_style()])


def _devices(environment: RunEnvironment) -> str:
    if isinstance(environment.devices, Unavailable):
        return str(environment.devices)
    return ", ".join(environment.devices) or "CPU only"
