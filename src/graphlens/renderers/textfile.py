"""A report as a text file: the summary, then every graph's tables in full."""

from dataclasses import dataclass

from graphlens.model import Graph, Report
from graphlens.renderers.accuracy_table import accuracy_table
from graphlens.renderers.gpu_table import gpu_table
from graphlens.renderers.kernel_table import kernel_table
from graphlens.renderers.summary import SummaryRenderer
from graphlens.renderers.table import TableRenderer

_SENTENCES = 100


@dataclass(frozen=True, kw_only=True)
class TextRenderer:
    """A report as plain text.

    Attributes:
        rows: Most operators shown of a graph; None, as a file has room, shows all.
        width: Columns the tables may use; None for no limit, where one node with a hundred
            arguments makes every line that long.
        root: Files below this folder are named relative to it.
    """

    rows: int | None = None
    width: int | None = 160
    root: str = ""

    def report(self, report: Report) -> str:
        """Summary and tables."""
        # Sentences are best read in lines shorter than a table's.
        width = min(self.width or _SENTENCES, _SENTENCES)
        summary = SummaryRenderer(width=width, findings=None, root=self.root)
        parts = [summary.report(report)]
        if report.graphs:
            parts.append(self._tables().report(report))
        parts += filter(None, map(self._kernels, report.graphs))
        parts += filter(None, map(self._accuracy, report.graphs))
        return "\n".join(parts)

    def graph(self, graph: Graph) -> str:
        """One graph's table, its kernels, and where it was compared the errors of its tensors."""
        parts = [self._tables().graph(graph), self._kernels(graph), self._accuracy(graph)]
        return "\n".join(filter(None, parts))

    def _kernels(self, graph: Graph) -> str:
        tables = (
            kernel_table(graph, self.width, root=self.root),
            gpu_table(graph, None, self.width, self.root),
        )
        return "\n".join(filter(None, tables))

    def _accuracy(self, graph: Graph) -> str:
        return accuracy_table(graph, self.width, most=None, root=self.root)

    def _tables(self) -> TableRenderer:
        return TableRenderer(rows=self.rows, width=self.width, root=self.root)
