"""What all renderers of diagrams have in common: how much of a graph they show."""

from dataclasses import dataclass

from graphlens.analysis.diagram import diagrams
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diagram_view import AUTO, OPERATORS, View
from graphlens.model import Graph, Report


@dataclass(frozen=True, kw_only=True)
class Viewing:
    """Options of every renderer of diagrams.

    Attributes:
        depth: How deep modules are opened: ``all``; ``leaf``, where a module that calls no other
            is one box; a number, 1 for only the outermost; ``auto`` for what can be read.
        fold: Whether equal numbered blocks that follow one another are drawn once, as "×N".
        show: ``operators``, or ``nodes`` for a box for every node and a line for every use.
    """

    depth: int | str = AUTO
    fold: bool = True
    show: str = OPERATORS

    def __post_init__(self) -> None:
        self.view()

    def view(self) -> View:
        """The options, checked."""
        return View(depth=self.depth, fold=self.fold, show=self.show)

    def of_graph(self, graph: Graph) -> list[Diagram]:
        """A graph's picture, and one for each body of a higher-order operator."""
        return list(diagrams(graph, self.view()))

    def of_report(self, report: Report) -> list[Diagram]:
        """Those of every graph that Dynamo captured."""
        captured = [graph for graph in report.graphs if graph.stage == "dynamo"]
        return [part for graph in captured for part in self.of_graph(graph)]
