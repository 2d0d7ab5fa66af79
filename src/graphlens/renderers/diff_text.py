"""Two compared graphs as text: a summary, then what differs, module by module."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphlens.analysis.diagram_text import value_text
from graphlens.analysis.diff_listing import ADDED, CHANGED, REMOVED, SAME, Entry, entries
from graphlens.errors import UsageError
from graphlens.model import Graph, GraphDiff, Node, PartDiff
from graphlens.renderers.diff_wording import (
    call_text,
    change_text,
    labels_text,
    state_names,
    summary_line,
)
from graphlens.renderers.escape import one_line
from graphlens.renderers.fitting import shorten, shorten_middle
from graphlens.renderers.wording import graph_title, location_text, wrapped

_WIDEST = (22, 46, 26, 30)
"""Of name, call, value and place; a listing without a width uses no more either."""
_NARROWEST = (8, 18, 10, 12)
_LEAST_CODE = 14
_MARGIN = 4
_GAP = 2
_MORE = 8


@dataclass(frozen=True)
class _Row:
    """A line of columns, or one of text that begins with its indentation."""

    sign: str = " "
    cells: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class DiffTextRenderer:
    """Differences as a listing like a unified diff.

    Attributes:
        width: Columns of text; None for no limit.
        context: Unchanged nodes shown before and after each difference; None for all.
        root: Files below this folder are named relative to it.
    """

    width: int | None = 160
    context: int | None = 3
    root: str = ""

    def __post_init__(self) -> None:
        if self.context is not None and self.context < 0:
            raise UsageError(f"context={self.context}: give a number from 0, or None for all.")

    def diff(self, diff: GraphDiff) -> str:
        """The differences of two graphs."""
        lines = [
            *self._cut(f"--- {self._heading(diff.before)}"),
            *self._cut(f"+++ {self._heading(diff.after)}"),
            *wrapped(summary_line(diff), self.width),
        ]
        bodies = [_nodes_of(diff.before), _nodes_of(diff.after)]
        for part in diff.parts:
            differs = part.changed or part.replaced or part.added or part.removed
            if not differs and self.context is not None:
                continue
            before = bodies[0][part.body_before] if _has(part, before=True) else ()
            after = bodies[1][part.body_after] if _has(part, before=False) else ()
            lines.append("")
            body = one_line(part.body_after or part.body_before)
            if body:
                lines += self._cut(f"body {body}:")
            lines += self._listing(part, before, after, diff)
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _heading(self, graph: Graph) -> str:
        title = graph_title(graph, self.root)
        return f"{title.heading} · {title.facts[0]}"

    def _cut(self, line: str) -> list[str]:
        return [line if self.width is None else shorten(line, self.width)]

    def _listing(
        self, part: PartDiff, before: Sequence[Node], after: Sequence[Node], diff: GraphDiff
    ) -> Iterator[str]:
        names = state_names(before) | state_names(after)
        listed = entries(part, before, after)
        rows: list[_Row] = []
        module: tuple[str, str] | None = None
        hidden = 0
        for entry, shown in zip(listed, self._shown(listed), strict=True):
            if not shown:
                hidden += 1
                continue
            if hidden:
                rows.append(_Row(text=f"    … {hidden:,} the same"))
                module, hidden = None, 0
            own = _module(entry.node, diff.after if entry.after else diff.before)
            if own != module:
                rows.append(_Row(text=f"  {own[0]}" + (f" · {own[1]}" if own[1] else "")))
                module = own
            rows += self._rows(entry, names)
        if hidden:
            rows.append(_Row(text=f"    … {hidden:,} the same"))
        widths = self._widths(rows)
        for row in rows:
            yield from self._cut(_line(row, widths))

    def _shown(self, listed: Sequence[Entry]) -> list[bool]:
        """Which entries are near enough to a difference."""
        if self.context is None:
            return [True] * len(listed)
        shown = [False] * len(listed)
        for at, entry in enumerate(listed):
            if entry.sign != SAME:
                first, end = max(0, at - self.context), at + self.context + 1
                shown[first:end] = [True] * (min(end, len(listed)) - first)
        return shown

    def _rows(self, entry: Entry, names: dict[str, str]) -> Iterator[_Row]:
        if entry.sign == CHANGED and not entry.changes:
            told = f"replaced: {labels_text(entry.before)} -> {labels_text(entry.after)}"
            yield _Row(CHANGED, text=f"  {CHANGED} {told}")
            for sign, nodes in ((REMOVED, entry.before), (ADDED, entry.after)):
                for node in nodes[:_MORE]:
                    yield _Row(f"  {sign}", self._cells(node, names))
                if len(nodes) > _MORE:
                    yield _Row(text=f"    {sign} … {len(nodes) - _MORE:,} more")
            return
        yield _Row(entry.sign, self._cells(entry.node, names))
        for change in entry.changes:
            yield _Row(CHANGED, text=f"        {change_text(change, '->', names)}")

    def _cells(self, node: Node, names: dict[str, str]) -> tuple[str, ...]:
        place = location_text(node.source, self.root) if node.is_operator else ""
        code = one_line(node.source.code) if node.source and node.is_operator else ""
        name = "" if node.name in names else one_line(node.name)
        return (name, call_text(node, names), one_line(value_text(node)), place, code)

    def _widths(self, rows: Sequence[_Row]) -> list[int]:
        """Of each column as much as it needs and there is room for; the code gets the rest."""
        cells = [row.cells for row in rows if row.cells]
        needed = [max((len(row[i]) for row in cells), default=0) for i in range(5)]
        widths = [min(need, most) for need, most in zip(needed, _WIDEST, strict=False)]
        nested = any(len(row.sign) > 1 for row in rows)
        room = (self.width or 10_000) - _MARGIN - 2 * nested - _GAP * sum(w > 0 for w in widths)
        for column in (1, 0, 3, 2):
            over = sum(widths) - room
            if over > 0:
                widths[column] = max(widths[column] - over, min(widths[column], _NARROWEST[column]))
        rest = room - sum(widths)
        return [*widths, min(needed[4], rest) if rest >= _LEAST_CODE else 0]


def _line(row: _Row, widths: Sequence[int]) -> str:
    if not row.cells:
        return row.text
    cuts = (shorten_middle, shorten, shorten, shorten_middle, shorten)
    cells = [
        cut(cell, width).ljust(width)
        for cut, cell, width in zip(cuts, row.cells, widths, strict=True)
        if width
    ]
    return f"  {row.sign} {(' ' * _GAP).join(cells)}"


def _module(node: Node, graph: Graph) -> tuple[str, str]:
    """What a node is listed under: its module and that one's class."""
    if node.op == "placeholder":
        return "inputs", ""
    call = node.modules[-1] if node.modules else None
    if node.op == "output" or call is None or not call.path:
        return one_line(graph.function) or "the function itself", ""
    return one_line(call.path), one_line(call.type.rpartition(".")[2])


def _nodes_of(graph: Graph) -> dict[str, Sequence[Node]]:
    """Nodes of the graph, by the empty name, and of its bodies."""
    bodies: dict[str, Sequence[Node]] = {body.name: body.nodes for body in graph.subgraphs}
    return {**bodies, "": graph.nodes}


def _has(part: PartDiff, before: bool) -> bool:
    """Whether a graph has this part at all."""
    if part.same or part.changed or part.replaced:
        return True
    return bool(part.removed if before else part.added)
