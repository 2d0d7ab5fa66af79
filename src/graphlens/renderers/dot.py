"""Graphs as DOT text, for people who have graphviz: the boxes of the SVG picture.

The graphviz package only writes the text here; no program is run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from graphviz import Digraph, escape, nohtml

from graphlens.analysis.diagram_data import Box, Diagram
from graphlens.analysis.text_width import visible
from graphlens.renderers.svg_style import BADGES, light_colours
from graphlens.renderers.viewing import Flow

_MANY_BOXES = 300
_FONT = "Helvetica"
_FRAME = "#b9c2cc"


@dataclass(frozen=True, kw_only=True)
class DotRenderer(Flow):
    """Writes DOT."""

    def text(self, parts: Sequence[Diagram]) -> str:
        """Diagrams in the format."""
        whole = Digraph("graphlens", graph_attr=self._attributes(parts))
        whole.attr("node", shape="box", style="filled,rounded", fontname=_FONT, fontsize="10")
        whole.attr("edge", color="#66727f", arrowsize="0.6")
        if len(parts) == 1:
            _fill(whole, parts[0], "")
            return str(whole.source)
        for number, part in enumerate(parts):
            inner = Digraph(f"cluster_{number}", graph_attr=_headline(part.title))
            _fill(inner, part, f"g{number}_")
            whole.subgraph(inner)
        return str(whole.source)

    def _attributes(self, parts: Sequence[Diagram]) -> dict[str, str]:
        title = parts[0].title if len(parts) == 1 else "" if parts else "No graph was captured"
        attributes = {"rankdir": self.direction, "fontname": _FONT, "labelloc": "t"}
        if title:
            attributes["label"] = _plain(_line(title))
        if sum(len(part.boxes) for part in parts) > _MANY_BOXES:
            # Without these dot works for minutes on large graphs.
            attributes |= {"nslimit": "0.1", "nslimit1": "0.1", "splines": "line"}
        return attributes


def _fill(graph: Digraph, part: Diagram, prefix: str) -> None:
    clusters = [
        Digraph(f"cluster_{prefix}m{index}", graph_attr=_headline(cluster.label))
        for index, cluster in enumerate(part.clusters)
    ]
    for number, box in enumerate(part.boxes):
        inside = clusters[box.cluster] if box.cluster >= 0 else graph
        fill, frame = light_colours(box.family)
        tooltip = _plain("\\n".join(_line(line) for line in box.details))
        name = f"{prefix}b{number}"
        inside.node(name, _label(box), fillcolor=fill, color=frame, tooltip=tooltip)
    # A subgraph is copied into the one around it, so the inner ones go first.
    for cluster, inner in zip(reversed(part.clusters), reversed(clusters), strict=True):
        (clusters[cluster.parent] if cluster.parent >= 0 else graph).subgraph(inner)
    for edge in part.edges:
        graph.edge(f"{prefix}b{edge.source}", f"{prefix}b{edge.target}")
    for loop in part.loops:
        ends = f"{prefix}b{loop.source}", f"{prefix}b{loop.target}"
        if ends[0] != ends[1]:
            graph.edge(*ends, style="dashed", constraint="false")


def _headline(text: str) -> dict[str, str]:
    return {"label": _plain(_line(text)), "labeljust": "l", "color": _FRAME, "style": "rounded"}


def _label(box: Box) -> str:
    lines = [f"{BADGES[box.family][1]} {box.label}", box.caption]
    lines += [row.text for row in box.rows]
    lines.append("   ".join(part for part in (box.value, box.place) if part))
    return _plain("".join(f"{_line(line)}\\l" for line in lines if line))


def _line(text: str) -> str:
    """Text in which DOT finds no escape sequence."""
    return str(escape(visible(text)))


def _plain(text: str) -> str:
    """Marks text as such: the writer takes what starts with < and ends with > for HTML."""
    return cast("str", nohtml(text))
