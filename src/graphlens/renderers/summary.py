"""A whole report as terminal text: counts, findings as a compiler shows them, graphs, notes."""

from collections.abc import Iterator
from dataclasses import dataclass

from graphlens.model import Environment, Graph, Report, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings import Finding, findings, headline, unknowns
from graphlens.renderers.fitting import Grid, draw, shorten, shorten_path, shrink
from graphlens.renderers.overview import GRAPH_COLUMNS, NUMBERS, graphs_overview
from graphlens.renderers.table import TableRenderer
from graphlens.renderers.wording import best_advice, counted, first_sentence, wrapped

_COLOURS = {"failed": "31", "eager": "31", "break": "33", "recompile": "35"}
_NOUNS = {
    "failed": "failed frame",
    "eager": "eager frame",
    "break": "graph break",
    "recompile": "recompiled frame",
}
_SAVE = 'report.save("report.html")'
MOST_GRAPHS = 60
MOST_FACTS = 10
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
        blocks = [self._heading(report)]
        found = findings(report, self.root)
        most = len(found) if self.findings is None else self.findings
        blocks += [self._finding(item) for item in found[:most]]
        if found[most:]:
            blocks.append(wrapped(_more(found[most:]), self.width))
        if report.graphs:
            blocks.append(self._graphs(report.graphs))
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
        return [self._paint(lines[0], "1"), *lines[1:]]

    def _finding(self, item: Finding) -> list[str]:
        first, *rest = wrapped(f"{item.label}: {item.title}", self.width)
        function = f" in {item.function}" if item.function else ""
        lines = [self._paint(first, f"1;{_COLOURS[item.kind]}"), *rest]
        lines.append(f"  --> {item.place}{function}")
        if item.code:
            lines += wrapped(item.code, self.width, f"{item.line:>5} | ", "      | ")
        for name, text in self._details(item):
            lines += wrapped(text, self.width, f"   = {name}: ", "     ")
        return lines

    def _details(self, item: Finding) -> Iterator[tuple[str, str]]:
        if item.why:
            yield "why", first_sentence(item.why[0])
        yield from item.facts[:MOST_FACTS]
        if item.facts[MOST_FACTS:]:
            yield "more", f"{len(item.facts) - MOST_FACTS:,} like these: {_SAVE}"
        if item.advice:
            yield "do", best_advice(item.advice)

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
            lines.append(f"... {counted(len(graphs) - MOST_GRAPHS, 'more graph')}: {_SAVE}")
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

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def _more(found: tuple[Finding, ...]) -> str:
    counts: dict[str, int] = {}
    for item in found:
        noun = _NOUNS[item.kind]
        counts[noun] = counts.get(noun, 0) + 1
    text = ", ".join(counted(count, f"more {noun}") for noun, count in counts.items())
    return f"... {text}: {_SAVE}"


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
