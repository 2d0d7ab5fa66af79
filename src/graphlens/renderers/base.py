"""What every renderer is."""

from typing import Protocol

from graphlens.model import Graph, GraphDiff, Report


class Renderer(Protocol):
    """Turns report data into text. Pure: it neither prints nor opens files.

    A renderer is a frozen dataclass whose fields are its options, so a wrong option fails by
    name before any work is done.
    """

    def report(self, report: Report) -> str:
        """The whole report."""
        ...

    def graph(self, graph: Graph) -> str:
        """One graph."""
        ...


class DiffRenderer(Protocol):
    """Turns the differences of two graphs into text; as pure as `Renderer`."""

    def diff(self, diff: GraphDiff) -> str:
        """Both graphs with what differs."""
        ...
