"""A whole report as terminal text: counts, findings as a compiler shows them, graphs, notes."""

from dataclasses import dataclass

from graphlens.model import EagerOperators, Environment, Graph, Report, Unavailable
from graphlens.renderers.comparison_text import ComparisonText
from graphlens.renderers.escape import one_line
from graphlens.renderers.finding_text import SAVE, FindingText, painted
from graphlens.renderers.findings import Finding, findings
from graphlens.renderers.fitting import Grid, draw, shorten, shorten_path, shrink
from graphlens.renderers.headline import headline, unknowns
from graphlens.renderers.overview import GRAPH_COLUMNS, NUMBERS, graphs_overview
from graphlens.renderers.table import TableRenderer
from graphlens.renderers.wording import counted, location_text, wrapped

_NOUNS = {
    "wrong": "wrong result",
    "failed": "failed frame",
    "eager": "eager frame",
    "break": "graph break",
    "recompile": "recompiled frame",
    "slower": "slower graph",
    "never_pays": "program that never pays",
    "precision_changed": "change of precision",
    "not_comparable": "graph that could not be compared",
    "intended": "break that is intended",
}
MOST_GRAPHS = 60
MOST_EAGER = 5
NOTHING = (
    "Nothing was compiled. Call the compiled function at least once before asking for the report."
)


@dataclass(frozen=True, kw_only=True)
class SummaryRenderer:
    """A report as text for a terminal.

    Attributes:
        width: Columns of text; None for no limit. Places (``file:line``) are never cut.
        findings: Most findings shown; None shows all.
        colour: Whether to mark findings with ANSI colours.
        root: Files below this folder are named relative to it.
    """

    width: int | None = None
    findings: int | None = 20
    colour: bool = False
    root: str = ""

    def report(self, report: Report) -> str:
        """The summary."""
        found = findings(report, self.root)
        text = FindingText(self.width, self.colour)
        blocks = [self._heading(report), text.worst(found)]
        most = len(found) if self.findings is None else self.findings
        blocks += [text.whole(item) for item in found[:most]]
        if found[most:]:
            blocks.append(wrapped(_more(found[most:]), self.width))
        if not isinstance(report.eager, Unavailable) and report.eager:
            blocks.append(self._eager(report.eager))
        if report.graphs:
            blocks.append(self._graphs(report.graphs))
        blocks += ComparisonText(self.width, self.root).tables(report)
        blocks.append([*self._notes(report), *self._environment(report.environment)])
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def graph(self, graph: Graph) -> str:
        """One graph as a table."""
        return TableRenderer(width=self.width, root=self.root).graph(graph)

    def _heading(self, report: Report) -> list[str]:
        if not (report.graphs or report.frames or unknowns(report)):
            return wrapped(f"GraphLens: {NOTHING}", self.width)
        lines = wrapped(f"GraphLens: {headline(report)}", self.width)
        for name, reason in unknowns(report):
            lines += wrapped(f"{name} unknown: {reason}", self.width, "  ", "    ")
        lines += ComparisonText(self.width, self.root).facts(report)
        return [painted(lines[0], "1", self.colour), *lines[1:]]

    def _eager(self, eager: tuple[EagerOperators, ...]) -> list[str]:
        """Lines whose operators ran outside of every graph, the most first."""
        total = sum(item.count for item in eager)
        lines = [f"{counted(total, 'operator')} ran outside of graphs:"]
        for item in eager[:MOST_EAGER]:
            inside = f" in {one_line(item.inside)}" if item.inside else ""
            place = location_text(item.place, self.root)
            lines += wrapped(f"{item.count:,} at {place}{inside}", self.width, "  ", "    ")
        if eager[MOST_EAGER:]:
            lines.append(f"  ... at {counted(len(eager) - MOST_EAGER, 'more line')}: {SAVE}")
        return lines

    def _graphs(self, graphs: tuple[Graph, ...]) -> list[str]:
        shown = graphs[:MOST_GRAPHS]
        grid = Grid.of(GRAPH_COLUMNS, graphs_overview(shown, self.root))
        if self.width is not None:
            for name, least, cut in (
                ("place", 20, shorten_path),
                ("remarks", 20, shorten),
                ("function", 12, shorten),
                ("backend", 8, shorten),
                ("remarks", 8, shorten),
                ("place", 10, shorten_path),
            ):
                shrink(grid, name, least, self.width, cut)
            for name in ("params", "inputs", "remarks", "backend"):
                if grid.width() > self.width and name in grid.columns:
                    grid.drop(name)
        lines = draw(grid, right=[name for name in grid.columns if name in NUMBERS])
        if graphs[MOST_GRAPHS:]:
            lines.append(f"... {counted(len(graphs) - MOST_GRAPHS, 'more graph')}: {SAVE}")
        return [line if self.width is None else shorten(line, self.width) for line in lines]

    def _notes(self, report: Report) -> list[str]:
        lines = []
        for note in report.notes:
            lines += wrapped(f"note [{one_line(note.code)}]: {one_line(note.message)}", self.width)
            if note.hint:
                lines += wrapped(one_line(note.hint), self.width, "   = do: ", "     ")
        return lines

    def _environment(self, environment: Environment) -> list[str]:
        return wrapped(environment_line(environment), self.width)


def _more(found: tuple[Finding, ...]) -> str:
    counts: dict[str, int] = {}
    for item in found:
        noun = _NOUNS[item.kind]
        counts[noun] = counts.get(noun, 0) + 1
    text = ", ".join(
        counted(count, f"more {noun}", f"more {_plural(noun)}") for noun, count in counts.items()
    )
    return f"... {text}: {SAVE}"


_PLURALS = {
    "break that is intended": "breaks that are intended",
    "program that never pays": "programs that never pay",
    "change of precision": "changes of precision",
    "graph that could not be compared": "graphs that could not be compared",
}


def _plural(noun: str) -> str:
    return _PLURALS.get(noun, noun + "s")


def environment_line(environment: Environment) -> str:
    """Versions and machine in one line."""
    parts = [
        f"graphlens {environment.graphlens}",
        f"torch {environment.torch}",
        f"Python {environment.python}",
        environment.platform,
        *(() if isinstance(environment.devices, Unavailable) else environment.devices),
    ]
    return one_line(", ".join(part for part in parts if part))
