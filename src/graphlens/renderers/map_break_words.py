"""Breaks, and what a map has no room to show, in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from graphlens.analysis.causes import CAUSES
from graphlens.analysis.program_map_data import MapBreak, Part, Variant, gives_up
from graphlens.renderers.escape import one_line
from graphlens.renderers.measures import duration, percent
from graphlens.renderers.wording import counted, shown_place


def break_title(one: MapBreak) -> str:
    """A break by its line."""
    line = f" in line {one.line}" if one.line else ""
    if gives_up(one):
        return f"runs eager: break{line}"
    return f"graph break{line}" if one.own else f"a call{line} breaks"


def break_code(one: MapBreak, root: str) -> str:
    """The user's line; of a break in something that is called also where that is."""
    place = shown_place(one.found.file, one.found.line, root)
    code = one_line(one.found.code if not one.own else one.code or one.found.code)
    return code if one.own else f"at {place}: {code}" if code else f"at {place}"


def break_reason(one: MapBreak) -> str:
    """Why it breaks, in a few words."""
    cause = CAUSES.get(one.found.cause) if one.found.cause != "other" else None
    return cause or one_line(one.found.kind)


def break_effects(one: MapBreak) -> Iterator[str]:
    """What else is to be said of a break."""
    if one.only:
        yield one_line(f"only of {', '.join(one.only)}")
    if one.found.rest_eager:
        yield "the rest of the function runs eager"
    if one.step is not None:
        share = f", {percent(one.share)}" if one.share else ""
        where = "in eager" if gives_up(one) else "outside of graphs"
        yield f"{duration(one.step)} a step {where}{share}"


def reasons_counted(breaks: Iterable[MapBreak], most: int = 3) -> str:
    """Many breaks by their reasons: ``40 × a print, 2 × a generator``."""
    found = Counter(break_reason(one) for one in breaks)
    texts = [f"{count} × {reason}" for reason, count in found.most_common(most)]
    rest = len(found) - most
    return ", ".join([*texts, f"{rest} more reasons"] if rest > 0 else texts)


def folded_parts(parts: Sequence[Part]) -> tuple[str, str, str]:
    """Parts that are not shown: how many, what they hold, why they break."""
    variants = [one for part in parts for one in part.variants]
    graphs = [graph for one in variants for graph in one.graphs]
    breaks = [one for part in parts for one in part.breaks]
    operators = sum(len(graph.operators) for graph in graphs)
    lines = f"lines {parts[0].line} to {parts[-1].line}"
    return (
        f"and {counted(len(parts), 'more part')}, {lines}",
        f"{counted(len(graphs), 'graph')}, {counted(operators, 'operator')}, "
        f"{counted(len(breaks), 'break')}",
        reasons_counted(breaks),
    )


def folded_variants(variants: Sequence[Variant]) -> tuple[str, str]:
    """Compilations that are not shown: how many, and why they were made."""
    subjects = Counter(
        one_line((cause.subject or cause.source or cause.guard).replace("`", ""))
        for one in variants
        if one.recompile
        for cause in one.recompile.causes[:1]
    )
    texts = [f"{count} × {subject}" for subject, count in subjects.most_common(2)]
    rest = len(subjects) - 2
    texts += [f"{rest} more reasons"] if rest > 0 else []
    return f"and {len(variants):,} more", ", ".join(texts)
