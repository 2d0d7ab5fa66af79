"""What the viewer shows of a graph, as compact data: strings once, facts by column.

The picture is the folded one: of equal blocks one is sent, and each of its boxes lists the nodes
of all of them, block after block. Facts are sent of every node, so nothing is out of reach.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphlens.analysis.diagram import whole_diagram
from graphlens.analysis.diagram_data import Box
from graphlens.analysis.diagram_text import title_text
from graphlens.analysis.families import FAMILIES
from graphlens.analysis.folded import folded
from graphlens.model import Graph, Subgraph
from graphlens.renderers.closed_modules import closed_boxes
from graphlens.renderers.kernel_payload import kernel_payload
from graphlens.renderers.overlay import ACCURACY, overlay
from graphlens.renderers.viewer_facts import Facts, Strings

VERSION = 1
_FAMILY = {name: number for number, name in enumerate(FAMILIES)}


def viewer_payload(
    graph: Graph, code: Iterable[tuple[str, str]] = (), root: str = ""
) -> dict[str, Any]:
    """All that the viewer needs to know of a graph.

    Args:
        graph: With its nodes.
        code: Heading and text of each program that belongs to it.
        root: Files below this folder are named relative to it.
    """
    strings = Strings()
    pictures = [_picture(graph, None, strings)]
    pictures += [_picture(graph, body, strings) for body in graph.subgraphs]
    return {
        "version": VERSION,
        "id": graph.id,
        "pictures": pictures,
        "strings": strings.all,
        "overlays": _overlays(graph),
        "kernels": kernel_payload(graph, root),
        "code": [list(one) for one in code],
    }


def _picture(graph: Graph, body: Subgraph | None, strings: Strings) -> dict[str, Any]:
    nodes = graph.nodes if body is None else body.nodes
    diagram = folded(whole_diagram(graph, body))
    number = {node.name: place for place, node in enumerate(nodes)}
    boxes = _Boxes(strings, number)
    closed = closed_boxes(diagram)
    return {
        "name": body.name if body else "",
        "title": title_text(graph, diagram.operators, body.name if body else ""),
        "operators": diagram.operators,
        "boxes": [boxes.row(box) for box in diagram.boxes],
        "members": [boxes.members(box) for box in diagram.boxes],
        "edges": [end for edge in diagram.edges for end in (edge.source, edge.target)],
        "clusters": [
            [strings[c.label], strings[c.path], strings[c.type], c.parent, int(c.leaf), c.repeats,
             strings[c.note], *boxes.row(box)]
            for c, box in zip(diagram.clusters, closed, strict=True)
        ],
        "loops": [part for one in diagram.loops for part in (one.cluster, one.source, one.target)],
        "facts": Facts(strings, number).columns(nodes),
    }  # fmt: skip


@dataclass
class _Boxes:
    """Boxes as lists; the viewer's ``payload.js`` reads them in the same order."""

    strings: Strings
    number: dict[str, int]

    def row(self, box: Box) -> list[Any]:
        s = self.strings
        return [
            self.number[box.name],
            _FAMILY[box.family],
            s[box.label],
            s[box.caption],
            s[box.value],
            s[box.place],
            s[box.path],
            box.cluster,
            box.operators,
            box.parameters,
            box.count,
            [part for row in box.rows for part in (s[row.kind], s[row.text])],
        ]

    def members(self, box: Box) -> list[int]:
        """The nodes a box stands for, each as the distance from the one before: equal steps."""
        places = [self.number[name] for name in box.nodes]
        return [place - before for before, place in zip([0, *places], places, strict=False)]


def _overlays(graph: Graph) -> list[dict[str, Any]]:
    """What boxes can be coloured by besides what the viewer knows from the facts."""
    found = overlay(graph, ACCURACY)
    if found is None or not found.words:
        return []
    return [{"key": ACCURACY, "title": found.name, "words": dict(found.words)}]
