"""Report data as JSON."""

from dataclasses import dataclass

import msgspec

from graphlens.model import Graph, GraphDiff, Report, to_json


@dataclass(frozen=True, kw_only=True)
class JsonRenderer:
    """A report as the versioned JSON that `graphlens.load` reads; a graph as its part of it."""

    def report(self, report: Report) -> str:
        """The report; the same one always gives the same text."""
        return to_json(report).decode("utf-8")

    def graph(self, graph: Graph) -> str:
        """One graph, as it stands in a report's list of graphs."""
        return msgspec.json.format(msgspec.json.encode(graph), indent=1).decode("utf-8") + "\n"


@dataclass(frozen=True, kw_only=True)
class DiffJsonRenderer:
    """Two graphs and their differences."""

    def diff(self, diff: GraphDiff) -> str:
        """Both graphs, and each pair, change and replacement."""
        return msgspec.json.format(msgspec.json.encode(diff), indent=1).decode("utf-8") + "\n"
