"""A report as a piece of HTML for a notebook: the summary, and each graph folded away."""

from dataclasses import dataclass
from html import escape

from graphlens.model import Graph, Report
from graphlens.renderers.escape import html_text
from graphlens.renderers.summary import SummaryRenderer
from graphlens.renderers.table import TableRenderer
from graphlens.renderers.wording import graph_title


@dataclass(frozen=True, kw_only=True)
class NotebookRenderer:
    """A report as HTML without styles of its own, so that it looks as the notebook does.

    Attributes:
        rows: Most operators shown of a graph; the middle is left out. None shows all.
        width: Columns of the summary.
        root: Files below this folder are named relative to it.
    """

    rows: int | None = 40
    width: int = 100
    root: str = ""

    def report(self, report: Report) -> str:
        """Summary and tables."""
        summary = SummaryRenderer(width=self.width, root=self.root).report(report)
        return f"<pre>{escape(summary)}</pre>\n" + "".join(map(self._folded, report.graphs))

    def graph(self, graph: Graph) -> str:
        """One graph's table."""
        return TableRenderer(format="html", rows=self.rows, root=self.root).graph(graph)

    def _folded(self, graph: Graph) -> str:
        heading = html_text(graph_title(graph, self.root).heading)
        return f"<details><summary>{heading}</summary>\n{self.graph(graph)}</details>\n"
