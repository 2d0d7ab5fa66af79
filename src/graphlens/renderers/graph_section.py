"""What a page has of one graph: facts, the data of its viewer, a static picture, programs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup

from graphlens.model import Graph, Unavailable
from graphlens.renderers.escape import one_line, printable
from graphlens.renderers.packed import packed
from graphlens.renderers.policy import inner_styles
from graphlens.renderers.svg import SvgRenderer
from graphlens.renderers.viewer_payload import viewer_payload
from graphlens.renderers.wording import graph_title, symbol_text

MOST_PICTURE = 400_000
"""A static picture of more characters is no page that anyone reads, and is left out."""
MOST_CODE = 2_000_000


@dataclass(frozen=True)
class GraphSection:
    """The parts for the template.

    Attributes:
        anchor: Id of the section.
        heading: Which graph it is.
        facts: What is said of it first.
        sizes: Its symbolic sizes.
        data: For the viewer; safe between the tags of a data block.
        kind: Of that block: its MIME type.
        picture: The folded graph as SVG, for readers without scripts.
        remark: Why there is no picture, or no viewer.
        code: Of each program its heading, number in the data, and remark.
    """

    anchor: str
    heading: str
    facts: tuple[str, ...]
    sizes: tuple[str, ...]
    data: Markup
    kind: str
    picture: Markup
    remark: str
    code: tuple[tuple[str, int, str], ...]

    @property
    def styles(self) -> list[str]:
        """Style sheets that the policy must allow."""
        return inner_styles(self.picture)


def graph_section(
    graph: Graph, index: int, root: str, diagrams: bool, compress: bool
) -> GraphSection:
    """The section of a graph.

    Args:
        graph: What it is about.
        index: Its place in the report.
        root: Files below this folder are named relative to it.
        diagrams: Whether there is a static picture.
        compress: Whether the viewer's data is compressed.
    """
    title = graph_title(graph, root)
    programs = list(_programs(graph))
    code = [(heading, text) for heading, text, _ in programs if text]
    picture, remark = _picture(graph, index) if diagrams else ("", _not_drawn(index))
    headings = [heading for heading, _ in code]
    return GraphSection(
        anchor=f"graph-{index + 1}",
        heading=title.heading,
        facts=tuple(title.facts),
        sizes=tuple(symbol_text(symbol) for symbol in graph.symbols),
        # Safe: base64, or JSON without a character that markup begins with.
        data=Markup(packed(viewer_payload(graph, code, root), compress)),  # noqa: S704
        kind="application/octet-stream" if compress else "application/json",
        picture=Markup(picture),  # noqa: S704 - the SVG renderer escapes all text
        remark=remark,
        code=tuple(
            (heading, headings.index(heading) if text else -1, said)
            for heading, text, said in programs
        ),
    )


def without_viewer(section: GraphSection, index: int) -> GraphSection:
    """The same in a page that has reached its size limit."""
    save = f'report.graphs[{index}].save("graph.svg")'
    remark = f"This page has reached its size limit; {save} draws it."
    code = tuple((heading, -1, "in report.json") for heading, _, _ in section.code)
    return replace(section, data=Markup(""), picture=Markup(""), remark=remark, code=code)


def _not_drawn(index: int) -> str:
    return f'Not drawn here; report.graphs[{index}].save("graph.svg") draws it.'


def _picture(graph: Graph, index: int) -> tuple[str, str]:
    svg = SvgRenderer().graph(graph)
    if len(svg) > MOST_PICTURE:
        save = f'report.graphs[{index}].save("graph.svg")'
        return "", f"The static picture is too large for this page; {save} draws it."
    return svg, ""


def _programs(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Heading, text and remark of each program that belongs to the graph."""
    for heading, text in (("Graph as Python", graph.code), ("Generated code", graph.output_code)):
        if isinstance(text, Unavailable):
            yield heading, "", one_line(text.reason)
        else:
            left_out = len(text) - MOST_CODE
            remark = f"{left_out:,} more characters are in report.json." if left_out > 0 else ""
            yield heading, printable(text[:MOST_CODE]), remark
