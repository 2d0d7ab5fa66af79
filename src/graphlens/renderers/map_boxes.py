"""The map of a program as panels of boxes, ready to be placed."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from graphlens.analysis.program_map import by_outcome
from graphlens.analysis.program_map_boxes import Cell, Line, MapBox, Panel, Row
from graphlens.analysis.program_map_data import (
    MapBreak,
    MapFunction,
    Part,
    ProgramMap,
    Variant,
    gives_up,
)
from graphlens.model import Unavailable
from graphlens.renderers import map_break_words as breaks
from graphlens.renderers import map_words as words
from graphlens.renderers.escape import one_line
from graphlens.renderers.wording import counted, first_sentence, location_text, shown_place

MOST_PARTS, LAST_PARTS = 16, 2
MOST_VARIANTS = 8
_MOST_OTHERS = 8
_LONGEST_TOOLTIP = 400
# Of each kind of box its class and sign.
GRAPH, BACKWARD, BREAK, NOTHING = ("mg", "↓"), ("mw", "↑"), ("mb", "!"), ("mn", "–")
EAGER, FAILED = ("me", "Py"), ("mf", "×")
_KINDS = {"skipped": EAGER, "recompile_limit": EAGER, "failed": FAILED}


def panels(of: ProgramMap, root: str) -> list[Panel]:
    """A panel a function, then one that names the others."""
    known = {(one.file, one.name) for one in of.functions}
    found = [function_panel(one, root, known) for one in of.functions]
    return [*found, others_panel(of.others, root)] if of.others else found


def function_panel(one: MapFunction, root: str, known: Collection[tuple[str, str]] = ()) -> Panel:
    """A function with everything in it, from its first line down.

    Args:
        one: The function.
        root: Files below it are named relative to it.
        known: Functions on the map, as file and name: calls out of them are said.
    """
    place = shown_place(one.file, one.line, root) if one.file else ""
    caller = words.caller(one, known)
    place += f", called from {location_text(caller, root)}" if caller else ""
    counts = words.function_counts(one)
    outcome = words.outcome_words(one.outcome)
    lines = [Line(text=one_line(one.name) or "a function", kind="l", right=outcome)]
    lines += [Line(text=text, kind="q") for text in (place, counts) if text]
    reasons = [one_line(frame.reason) for frame in one.frames if frame.reason]
    return Panel(
        lines=tuple(lines),
        rows=tuple(_rows(one.parts, root)),
        tooltip=_tooltip([f"{one.name} {place}", f"{outcome}: {counts}", *reasons]),
    )


def others_panel(others: Sequence[MapFunction], root: str) -> Panel:
    """Functions that are only named, by what became of them."""
    notes = []
    for outcome, group in by_outcome(others).items():
        names = [f"{one_line(one.name)} ({shown_place(one.file, one.line, root)})" for one in group]
        shown = [name if len(name) <= 90 else name[:89] + "…" for name in names[:_MOST_OTHERS]]
        more = len(names) - len(shown)
        text = ", ".join([*shown, f"and {more:,} more"] if more else shown)
        notes.append(f"{words.outcome_words(outcome)} ({len(group):,}): {text}")
    heading = Line(text=counted(len(others), "other function"), kind="h")
    return Panel(lines=(heading,), notes=tuple(notes), kind="others")


def _rows(parts: Sequence[Part], root: str) -> Iterator[Row]:
    first = parts
    last: Sequence[Part] = ()
    if len(parts) > MOST_PARTS:
        first, last = parts[: MOST_PARTS - LAST_PARTS], parts[-LAST_PARTS:]
    for part in first:
        yield from _rows_of(part, root)
    if last:
        hidden = parts[len(first) : -LAST_PARTS]
        texts = breaks.folded_parts(hidden)
        lines = [Line(text=texts[0], kind="h"), *(Line(text=text) for text in texts[1:] if text)]
        box = MapBox(kind=NOTHING[0], sign="…", lines=tuple(lines), tooltip=_tooltip(texts))
        yield Row(cells=(Cell(box=box),))
    for part in last:
        yield from _rows_of(part, root)


def _rows_of(part: Part, root: str) -> Iterator[Row]:
    eager = [one for one in part.breaks if gives_up(one)]
    if eager and all(one.outcome == "skipped" for one in part.variants):
        # The break is why it runs eager, and not what comes after that.
        for one in part.breaks:
            yield Row(cells=(Cell(box=_break(one, root)),))
        return
    shown = part.variants[:MOST_VARIANTS]
    if len(part.variants) > MOST_VARIANTS:
        shown = part.variants[: MOST_VARIANTS - 1]
    cells = [_cell(one, part.line, bool(part.breaks)) for one in shown]
    hidden = part.variants[len(shown) :]
    if hidden:
        title, why = breaks.folded_variants(hidden)
        lines = [Line(text=title, kind="h"), Line(text=why, kind="q")]
        box = MapBox(kind=NOTHING[0], sign="…", lines=tuple(lines), tooltip=_tooltip([why]))
        cells.append(Cell(box=box))
    number = counted(len(part.variants), "compilation")
    beginning = f"From line {part.line} on: " if part.line else ""
    yield Row(cells=tuple(cells), caption=f"{beginning}{number}; each call runs the one that fits")
    for one in part.breaks:
        yield Row(cells=(Cell(box=_break(one, root)),))


def _cell(one: Variant, line: int, has_break: bool) -> Cell:
    is_graph = one.graphs or one.outcome == "compiled"
    box = _graph(one, line) if is_graph else _no_graph(one, line, has_break)
    if not one.backward:
        return Cell(box=box)
    operators = sum(len(graph.operators) for graph in one.backward)
    lines = [Line(text="backward", kind="l"), Line(text=counted(operators, "operator"))]
    cost = words.cost_words(one.backward_cost)
    lines += [Line(text=cost)] if cost else []
    saved = " ".join(words.saved_words(one.saved))
    tooltip = [f"{one.compile_id} backward", f"{operators} operators", saved, cost]
    backward = MapBox(
        kind=BACKWARD[0],
        sign=BACKWARD[1],
        lines=tuple(lines),
        tooltip=_tooltip(tooltip),
        share=one.backward_cost.share,
        graph=one.backward[0].id if one.backward else "",
    )
    return Cell(box=box, backward=backward, link=words.saved_words(one.saved))


def _graph(one: Variant, line: int) -> MapBox:
    name = words.variant_name(one, has_break=False)
    hits = words.hits_words(graph.hits for graph in one.graphs)
    lines = [Line(text=name, kind="l", right=hits)]
    lines += _why(one)
    facts, cost = words.graph_facts(one), words.cost_words(one.cost)
    speed = words.speed_words(one.cost)
    lines += [Line(text=text) for text in (facts, cost, speed) if text]
    lines += [Line(text=text, kind="f") for text in words.problems(one)]
    dynamic = one.compilation.dynamic if one.compilation else ()
    if dynamic:
        lines.append(Line(text=f"for any {one_line(dynamic[0]).replace('`', '')}", kind="q"))
    told = [name, f"from line {line} on" if line else "", facts, hits, cost, speed]
    told += [f"hits: {one_line(graph.hits.reason)}" for graph in one.graphs
             if isinstance(graph.hits, Unavailable)]  # fmt: skip
    return MapBox(
        kind=GRAPH[0],
        sign=GRAPH[1],
        lines=tuple(lines),
        tooltip=_tooltip([*told, *_guards(one), *(f"for any {text}" for text in dynamic)]),
        share=one.cost.share,
        graph=one.graphs[0].id if one.graphs else "",
    )


def _no_graph(one: Variant, line: int, has_break: bool) -> MapBox:
    """What torch made no graph of: it runs eager, or there is nothing to compile."""
    kind, sign = _KINDS.get(one.outcome, NOTHING)
    name = words.variant_name(one, has_break)
    lines = [Line(text=name, kind="l")]
    lines += _why(one)
    reason = first_sentence(one.reason)
    time, cost = words.compile_time(one), words.cost_words(one.cost)
    lines += [Line(text=text, kind="q") for text in (reason, time) if text]
    lines += [Line(text=cost)] if cost else []
    told = [name, f"from line {line} on" if line else "", one.reason, time]
    return MapBox(
        kind=kind,
        sign=sign,
        lines=tuple(lines),
        tooltip=_tooltip([*told, *_guards(one)]),
        share=one.cost.share,
    )


def _break(one: MapBreak, root: str) -> MapBox:
    found = one.found
    hits = words.hits_words([found.hits]) if one.own else ""
    lines = [Line(text=breaks.break_title(one), kind="l", right=hits)]
    lines.append(Line(text=breaks.break_code(one, root), kind="f"))
    lines.append(Line(text=breaks.break_reason(one), right=one_line(found.gb_code)))
    effects = list(breaks.break_effects(one))
    lines += [Line(text=text) for text in effects]
    told = [
        breaks.break_title(one),
        f"{shown_place(found.file, found.line, root)}: {found.code}",
        f"{found.kind} {found.gb_code}",
        found.because,
        found.skipped_because,
        *effects,
        f"hits: {found.hits.reason}" if isinstance(found.hits, Unavailable) else hits,
        *found.advice[:1],
    ]
    kind, sign = EAGER if gives_up(one) else BREAK
    return MapBox(kind=kind, sign=sign, lines=tuple(lines), tooltip=_tooltip(told), share=one.share)


def _why(one: Variant) -> list[Line]:
    texts = words.why_recompiled(one.recompile) if one.recompile else ()
    return [Line(text=text, kind="f") for text in texts if text]


def _guards(one: Variant) -> list[str]:
    if one.recompile is None:
        return []
    return [f"guard of {cause.failed}: {cause.guard}" for cause in one.recompile.causes[:3]]


def _tooltip(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, on a line each."""
    clean = dict.fromkeys(one_line(text) for text in texts)
    return tuple(
        text if len(text) <= _LONGEST_TOOLTIP else text[: _LONGEST_TOOLTIP - 1] + "…"
        for text in clean
        if text
    )
