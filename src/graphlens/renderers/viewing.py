"""What all renderers of diagrams have in common: how much of a graph they show."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from graphlens.analysis.diagram import diagrams
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diagram_view import AUTO, OPERATORS, View
from graphlens.errors import UsageError
from graphlens.model import Graph, Report

DIRECTIONS = ("TB", "LR", "BT", "RL")


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


@dataclass(frozen=True, kw_only=True)
class Flow(Viewing):
    """A diagram that another program lays out.

    Attributes:
        direction: Where lines lead: ``TB`` (down), ``LR`` (right), ``BT`` or ``RL``.
    """

    direction: str = "TB"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.direction not in DIRECTIONS:
            raise UsageError(f"direction={self.direction!r}: give one of {', '.join(DIRECTIONS)}.")

    def graph(self, graph: Graph) -> str:
        """One graph, with the bodies of its higher-order operators beside it."""
        return self.text(self.of_graph(graph))

    def report(self, report: Report) -> str:
        """Every graph that Dynamo captured, each a group."""
        return self.text(self.of_report(report))

    @abstractmethod
    def text(self, parts: Sequence[Diagram]) -> str:
        """Diagrams in the format."""
