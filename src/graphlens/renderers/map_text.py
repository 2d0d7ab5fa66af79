"""The map of a program as a tree of text, for a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphlens.analysis.program_map import MOST_FUNCTIONS, program_map
from graphlens.analysis.program_map_data import MapBreak, MapFunction, Part, Variant
from graphlens.model import Graph, Report, SourceLocation
from graphlens.renderers import map_break_words as breaks
from graphlens.renderers import map_words as words
from graphlens.renderers.escape import one_line
from graphlens.renderers.fitting import shorten
from graphlens.renderers.map_boxes import LAST_PARTS, MOST_PARTS, MOST_VARIANTS, others_panel
from graphlens.renderers.map_svg import alone
from graphlens.renderers.wording import counted, first_sentence, location_text, shown_place

_Item = tuple[str, Sequence[str]]  # a line, and lines beneath it


@dataclass(frozen=True, kw_only=True)
class MapTextRenderer:
    """Writes the map of a program as a tree.

    Attributes:
        width: Columns of text; None for no limit.
        functions: Most functions told in full; the others are named below.
        root: Files below this folder are named relative to it.
    """

    width: int | None = None
    functions: int = MOST_FUNCTIONS
    root: str = ""

    def report(self, report: Report) -> str:
        """The whole program."""
        of = program_map(report, self.functions)
        known = {(one.file, one.name) for one in of.functions}
        lines = list(words.map_facts(of, report))
        for one in of.functions:
            lines += ["", *self._function(one, words.caller(one, known))]
        if of.others:
            heading, notes = self._others(of.others)
            lines += ["", heading, *_tree([(note, ()) for note in notes])]
        shown = [line if self.width is None else shorten(line, self.width) for line in lines]
        return "\n".join(shown) + "\n"

    def graph(self, graph: Graph) -> str:
        """One graph, as the only one of a program."""
        return self.report(alone(graph))

    def _function(self, one: MapFunction, caller: SourceLocation | None) -> Iterator[str]:
        place = shown_place(one.file, one.line, self.root) if one.file else ""
        place += f", called from {location_text(caller, self.root)}" if caller else ""
        place = f" ({place})" if place else ""
        counts = words.function_counts(one)
        outcome = words.outcome_words(one.outcome)
        yield f"{one_line(one.name) or 'a function'}{place}: " + ", ".join(
            filter(None, [outcome, counts])
        )
        yield from _tree(list(self._parts(one.parts)))

    def _others(self, others: Sequence[MapFunction]) -> tuple[str, list[str]]:
        panel = others_panel(others, self.root)
        return panel.lines[0].text, list(panel.notes)

    def _parts(self, parts: Sequence[Part]) -> Iterator[_Item]:
        first, last = parts, parts[:0]
        if len(parts) > MOST_PARTS:
            first, last = parts[: MOST_PARTS - LAST_PARTS], parts[-LAST_PARTS:]
        for part in first:
            yield from self._part(part)
        if last:
            texts = breaks.folded_parts(parts[len(first) : -LAST_PARTS])
            yield "... " + ": ".join(filter(None, texts)), ()
        for part in last:
            yield from self._part(part)

    def _part(self, part: Part) -> Iterator[_Item]:
        shown = part.variants[:MOST_VARIANTS]
        if part.line and len(shown) > 1:
            yield f"from line {part.line} on each call runs one of {len(part.variants)}:", ()
        for one in shown:
            yield _variant(one, bool(part.breaks))
        hidden = part.variants[len(shown) :]
        if hidden:
            yield "... " + ": ".join(filter(None, breaks.folded_variants(hidden))), ()
        for found in part.breaks:
            yield self._break(found), ()

    def _break(self, one: MapBreak) -> str:
        hits = words.hits_words([one.found.hits]) if one.own else ""
        facts = ", ".join(filter(None, [breaks.break_title(one), hits, *breaks.break_effects(one)]))
        return f"! {facts}: {breaks.break_reason(one)}: {breaks.break_code(one, self.root)}"


def _variant(one: Variant, has_break: bool) -> _Item:
    """A compilation, with its backward beneath it."""
    texts = [words.graph_facts(one), words.hits_words(graph.hits for graph in one.graphs)]
    if not one.graphs and one.outcome != "compiled":
        texts = [first_sentence(one.reason), words.compile_time(one)]
    texts += [words.cost_words(one.cost), words.speed_words(one.cost), *words.problems(one)]
    if one.recompile:
        texts.append(" ".join(filter(None, words.why_recompiled(one.recompile))))
    name = words.variant_name(one, has_break)
    own = ": ".join(filter(None, [name, ", ".join(filter(None, texts))]))
    if not one.backward:
        return own, ()
    operators = sum(len(graph.operators) for graph in one.backward)
    saved = " of ".join(words.saved_words(one.saved))
    cost = words.cost_words(one.backward_cost)
    return own, (
        "backward: " + ", ".join(filter(None, [counted(operators, "operator"), saved, cost])),
    )


def _tree(items: Sequence[_Item]) -> Iterator[str]:
    """Lines with the branches of a tree before them."""
    for number, (line, children) in enumerate(items, 1):
        last = number == len(items)
        yield f"{'└' if last else '├'}─ {line}"
        for child in children:
            yield f"{' ' if last else '│'}  └─ {child}"
