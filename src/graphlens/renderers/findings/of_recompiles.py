"""All recompiles of one function as one finding: what changed for each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from graphlens.analysis.crossed_values import RESUMED, resumed_function
from graphlens.analysis.places import is_library
from graphlens.model import Compilation, Difference, Frame, GuardFailure, Recompile, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings.finding import EAGER, RECOMPILE, Finding
from graphlens.renderers.findings.remedies import remedies
from graphlens.renderers.wording import counted, location_text, seconds, shown_place

# Outcomes after which torch keeps an entry for the call, which counts against the limit.
_KEPT = ("compiled", "no_graph")
_MOST_GUARDS = 5


def of_recompiles(items: Sequence[Recompile], frame: Frame | None, root: str) -> Finding:
    """The finding of all recompiles of a frame.

    Args:
        items: Of the frame, in order.
        frame: Itself, where it is known.
        root: Files below it are named relative to it.
    """
    first = items[0]
    stopped = frame is not None and frame.outcome == "recompile_limit"
    name = _name(frame.function if frame else first.function)
    place = _place(first, frame)
    advice = Counter(one_line(text) for item in items for text in item.advice)
    return Finding(
        kind=EAGER if stopped else RECOMPILE,
        title=one_line(_title(name, len(items), frame)),
        place=shown_place(*place, root),
        line=place[1],
        function=one_line(resumed_function(frame.function if frame else first.function)),
        why=(_stopped(frame),) if stopped and frame else (),
        cost=_cost(items, frame),
        weight=len(items),
        advice=tuple(text for text, _ in advice.most_common()),
        remedies=remedies([fix for item in items for fix in item.fixes], first.file, root),
        facts=_clean([*_elsewhere(first, frame, place, root), *_history(items, frame, root)]),
        details=_clean(fact for item in items for fact in _guards(item, root)),
    )


def _place(first: Recompile, frame: Frame | None) -> tuple[str, int]:
    """The function's first line; where that is a library's, the user's line that called it."""
    place = (frame.file, frame.line) if frame else (first.file, first.line)
    called = first.called_from
    return (called.file, called.line) if called and is_library(place[0]) else place


def _elsewhere(
    first: Recompile, frame: Frame | None, place: tuple[str, int], root: str
) -> Iterator[tuple[str, str]]:
    own = (frame.file, frame.line) if frame else (first.file, first.line)
    if own != place:
        yield "the function is at", shown_place(*own, root)


def _name(function: str) -> str:
    """A function as the user would call it; what follows a break is a part of one."""
    resumed = RESUMED.match(function)
    return (
        f"the rest of {resumed['function']} from line {resumed['line']} on" if resumed else function
    )


def _title(name: str, count: int, frame: Frame | None) -> str:
    times = f" {count:,} times" if count > 1 else ""
    title = f"{name} was compiled again{times}"
    if frame is None:
        return title
    made = sum(one.outcome in _KEPT for one in frame.compilations)
    if frame.outcome == "recompile_limit":
        return f"calls of {name} that fit none of its {counted(made, 'compilation')}"
    if isinstance(frame.limit, Unavailable):
        return title
    return f"{title}; {made} of {frame.limit} compilations are used"


def _stopped(frame: Frame) -> str:
    limit = frame.limit if isinstance(frame.limit, int) else "a limited number of"
    return (
        f"The recompile limit is reached: torch keeps {limit} compilations of a function, and they "
        "are used up."
    )


def _cost(items: Sequence[Recompile], frame: Frame | None) -> str:
    if frame is None:
        return ""
    again = {item.compile_id for item in items}
    times = [one.seconds for one in frame.compilations if one.compile_id in again]
    known = [time for time in times if not isinstance(time, Unavailable)]
    if not known or len(known) < len(times):
        return counted(len(items), "compilation")
    return f"{counted(len(items), 'compilation')}, {seconds(sum(known))}"


def _history(
    items: Sequence[Recompile], frame: Frame | None, root: str
) -> Iterator[tuple[str, str]]:
    """Each compilation: what had changed, and what it was made for any value of."""
    made = {one.compile_id: one for one in frame.compilations} if frame else {}
    again = {item.compile_id for item in items}
    for name, one in made.items():
        if name not in again and one.outcome in _KEPT:
            empty = "; no_graph" if one.outcome == "no_graph" else ""
            yield name, f"the first compilation{empty}{_dynamic(one)}"
    for item in items:
        changes = _changes(item) or "no guard was named"
        nearest = f" (against {item.nearest})" if item.nearest else ""
        called = item.called_from
        here = called is None or (called.file, called.line) == (item.file, item.line)
        from_line = "" if here else f", called from {location_text(called, root)}"
        known = made.get(item.compile_id)
        given_up = "" if known is None or known.outcome == "compiled" else f"; {known.outcome}"
        dynamic = _dynamic(known) if known else ""
        yield item.compile_id, f"{changes}{nearest}{from_line}{given_up}{dynamic}"


def _changes(item: Recompile) -> str:
    changes = item.differences[:4]
    if not changes:
        return _guard(item.causes[0]) if item.causes else ""
    text = "; ".join(_change(change) for change in changes)
    more = len(item.differences) - len(changes)
    return f"{text}; and {more} more" if more else text


def _guard(cause: GuardFailure) -> str:
    subject = cause.subject or cause.source
    if not subject or not (cause.expected or cause.actual):
        return cause.guard
    return _change(Difference(subject=subject, before=cause.expected, after=cause.actual))


def _change(change: Difference) -> str:
    if change.before and change.after:
        return f"{change.subject}: {change.before} → {change.after}"
    if change.before:
        return f"{change.subject} is no longer {change.before}"
    return f"{change.subject} is now {change.after}" if change.after else change.subject


def _dynamic(one: Compilation) -> str:
    return f"; then for any {', '.join(one.dynamic)}" if one.dynamic else ""


def _guards(item: Recompile, root: str) -> Iterator[tuple[str, str]]:
    """What failed of the nearest compilation and of a few more: there is one for each before."""
    causes = sorted(item.causes, key=lambda cause: cause.failed != item.nearest)
    for cause in causes[:_MOST_GUARDS]:
        yield f"{item.compile_id} guard of {cause.failed}", cause.guard
        if cause.user_line:
            yield f"{item.compile_id} guarded at", _quoted(cause, root)
    more = len(causes) - _MOST_GUARDS
    if more > 0:
        yield f"{item.compile_id} and more", f"... and {counted(more, 'more guard')}: report.json"


def _quoted(cause: GuardFailure, root: str) -> str:
    code = cause.user_line.code if cause.user_line else ""
    return f"{location_text(cause.user_line, root)}{': ' if code else ''}{code}"


def _clean(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((one_line(name), one_line(text)) for name, text in facts)
