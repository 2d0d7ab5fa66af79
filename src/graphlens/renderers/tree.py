"""Graphs as a tree of their modules, for the terminal: the picture's boxes without its lines."""

from collections.abc import Iterator
from dataclasses import dataclass

from tabulate import tabulate

from graphlens.analysis.diagram_data import Box, Cluster, Diagram
from graphlens.analysis.diagram_tree import ROOT, Member, members
from graphlens.analysis.text_width import shorten, visible
from graphlens.model import Graph, Report
from graphlens.renderers.svg_style import BADGES
from graphlens.renderers.viewing import Viewing

_LONGEST = 100


@dataclass(frozen=True, kw_only=True)
class TreeRenderer(Viewing):
    """Writes the tree.

    Attributes:
        places: Whether the user's lines are shown.
    """

    places: bool = True

    def graph(self, graph: Graph) -> str:
        """One graph, with the bodies of its higher-order operators after it."""
        return "\n".join(self._tree(part) for part in self.of_graph(graph))

    def report(self, report: Report) -> str:
        """Every graph that Dynamo captured, one after the other."""
        parts = self.of_report(report)
        return "\n".join(self._tree(part) for part in parts) or "No graph was captured.\n"

    def _tree(self, part: Diagram) -> str:
        rows = list(_rows(part, members(part), ROOT, ""))
        if not self.places:
            rows = [row[:-1] for row in rows]
        tree = tabulate(rows, tablefmt="plain", disable_numparse=True)
        lines = [visible(part.title), *(line.rstrip() for line in tree.split("\n"))]
        if part.hidden:
            lines.append(part.hidden)
        return "\n".join(lines).rstrip() + "\n"


def _rows(
    part: Diagram, contents: dict[int, list[Member]], container: int, before: str
) -> Iterator[tuple[str, ...]]:
    inside = contents[container]
    for place, (is_box, number) in enumerate(inside):
        last = place == len(inside) - 1
        branch, deeper = ("└─ ", "   ") if last else ("├─ ", "│  ")
        if is_box:
            yield _of_box(part.boxes[number], before + branch)
        else:
            yield _of_cluster(part.clusters[number], before + branch)
            yield from _rows(part, contents, number, before + deeper)


def _of_box(box: Box, before: str) -> tuple[str, ...]:
    label = f"{before}{BADGES[box.family][1]} {visible(box.label)}"
    rows = ", ".join(row.text for row in box.rows)
    return (label, visible(box.caption), visible(box.value), visible(shorten(rows, _LONGEST)),
            visible(box.place))  # fmt: skip


def _of_cluster(cluster: Cluster, before: str) -> tuple[str, ...]:
    note = f"differs: {cluster.note}" if cluster.note else ""
    return (before + visible(cluster.label), "", "", visible(note), "")
