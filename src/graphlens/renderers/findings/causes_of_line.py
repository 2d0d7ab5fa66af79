"""The different causes of the breaks at one line, each in words."""

from collections.abc import Sequence

from graphlens.analysis.causes import CAUSES
from graphlens.model import GraphBreak
from graphlens.renderers.escape import one_line
from graphlens.renderers.wording import best_advice, location_text

# Not a fault of the program: torch says so, or the program asks for it.
INTENDED_CAUSES = frozenset({"user_exception", "disabled_function", "explicit_graph_break"})


def points_elsewhere(found: GraphBreak) -> bool:
    """Whether torch names another line than the user's, as for code of a library."""
    place = found.points_to
    return place is not None and (place.file, place.line) != (found.file, found.line)


def different_causes(group: Sequence[GraphBreak]) -> tuple[GraphBreak, ...]:
    """A break for each cause, the one that speaks for the line first.

    That is one in the user's own file. Torch can give two reasons for one expression: they are
    one cause where the class of cause and the place are the same.
    """
    order = sorted(group, key=_is_lesser)
    found: dict[tuple[str, str, str], GraphBreak] = {}
    for one in order:
        place = location_text(one.points_to) if points_elsewhere(one) else one.trigger
        found.setdefault((one.cause, one.trigger, place), one)
    return tuple(found.values())


def _is_lesser(one: GraphBreak) -> tuple[bool, bool, bool]:
    return points_elsewhere(one), one.cause in INTENDED_CAUSES, one.cause == "other"


def title_of(causes: Sequence[GraphBreak]) -> str:
    """What the causes are, in a few words; a library's function by its public name."""
    simple = dict.fromkeys(_what(one) for one in causes if not one.library_function)
    library = dict.fromkeys(one.library_function for one in causes if one.library_function)
    parts = list(simple)
    if library:
        noun = "a library function" if len(library) == 1 else "library functions"
        parts.append(f"{' and '.join(library)}, {noun} that Dynamo cannot trace")
    return " and ".join(parts)


def _what(one: GraphBreak) -> str:
    return CAUSES.get(one.cause, CAUSES["other"])


def named_causes(causes: Sequence[GraphBreak], root: str) -> tuple[tuple[str, str], ...]:
    """A fact that counts and names the causes; none where there is but one."""
    if len(causes) < 2:
        return ()
    main = causes[0]
    one_call = all((one.cause, one.trigger) == (main.cause, main.trigger) for one in causes)
    where = f"in {_expression(main)}" if one_call else "on this line"
    named = [_inside(one, root) if one_call else _named(one, root) for one in causes]
    return (("causes", one_line(f"{len(causes)} {where}: {'; '.join(named)}")),)


def _expression(one: GraphBreak) -> str:
    return f"`{one.trigger or one.code}`"


def _named(one: GraphBreak, root: str) -> str:
    place = f", at {_inside(one, root)}" if points_elsewhere(one) else ""
    return f"{_expression(one)}, {_what(one)}{place}"


def _inside(one: GraphBreak, root: str) -> str:
    """What breaks inside of a call: the library's line, or torch's kind where that is not known."""
    place = location_text(one.points_to, root) if points_elsewhere(one) else ""
    code = one.points_to.code if place and one.points_to else ""
    what = f"`{code}`" if code else one.kind
    return f"{what} ({place})" if place else what


def reasons(causes: Sequence[GraphBreak]) -> list[str]:
    """Why each cause breaks the graph, each text once."""
    return list(dict.fromkeys(one.because or one.explanation for one in _to_act_on(causes)))


def advice_for_each(causes: Sequence[GraphBreak]) -> tuple[str, ...]:
    """What to do, the best for each cause first; of torch's own hints one where there are more."""
    several = _to_act_on(causes)
    own = [one.advice or one.hints for one in several]
    if len(own) > 1:
        own = [one.advice or tuple(filter(None, [best_advice(one.hints)])) for one in several]
    first = [texts[0] for texts in own if texts]
    rest = [text for texts in own for text in texts[1:]]
    return tuple(dict.fromkeys(map(one_line, first + rest)))


def _to_act_on(causes: Sequence[GraphBreak]) -> list[GraphBreak]:
    """Of what breaks inside of one call of a library the first: only the call can be changed."""
    found: dict[tuple[str, str, str], GraphBreak] = {}
    for one in causes:
        inner = "" if points_elsewhere(one) else one.kind
        found.setdefault((one.cause, one.trigger, inner), one)
    return list(found.values())
