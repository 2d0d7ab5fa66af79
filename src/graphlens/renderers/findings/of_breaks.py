"""Graph breaks at one line of the user's as one finding."""

from collections import Counter
from collections.abc import Sequence

from graphlens.analysis.crossed_values import resumed_function
from graphlens.analysis.places import is_library
from graphlens.analysis.report_parts import breaks_of
from graphlens.model import Frame, GraphBreak, Report, SourceLocation, Unavailable
from graphlens.renderers.escape import one_line, printable
from graphlens.renderers.findings.causes_of_line import (
    INTENDED_CAUSES,
    advice_for_each,
    different_causes,
    named_causes,
    points_elsewhere,
    reasons,
    title_of,
)
from graphlens.renderers.findings.finding import BREAK, EAGER, INTENDED, CodeLine, Finding
from graphlens.renderers.findings.remedies import remedies
from graphlens.renderers.wording import counted, location_text, shown_place

Place = tuple[str, str, int]  # a function's file, name and first line


class Functions:
    """The functions that breaks are in: which torch gave up on, and what ran outside of graphs.

    Args:
        report: Of the run; only ``explain`` counts operators.
    """

    def __init__(self, report: Report) -> None:
        self._frames = {
            compilation.compile_id: frame
            for frame in report.frames
            for compilation in frame.compilations
        }
        self._known = not isinstance(report.eager, Unavailable)
        self._of_function: Counter[Place] = Counter()
        self._of_line: Counter[tuple[str, int]] = Counter()
        self._given_up = given_up = {
            _place(frame) for frame in report.frames if frame.outcome == "skipped"
        }
        given_up |= {
            place for one in breaks_of(report) if one.rest_eager for place in self._of(one)
        }
        for item in () if isinstance(report.eager, Unavailable) else report.eager:
            place = item.place
            name = place.function.rpartition(".")[2]
            # Of several functions of one name the one that begins last before the line.
            inside = [p for p in given_up if p[:2] == (place.file, name) and p[2] <= place.line]
            if inside:
                self._of_function[max(inside)] += item.count
            else:
                self._of_line[place.file, place.line] += item.count

    def given_up(self, found: GraphBreak) -> str:
        """The user's function that runs eager for a break, all or the rest of it, or "".

        Torch gives up on functions of libraries too, for lines that only call them.
        """
        if found.consequence != "frame_skipped" and not found.rest_eager:
            return ""
        known = self._of(found)
        if not known:
            return found.function or "the function"
        # The user's function can be among the ones the break was met in, and compiled all the same.
        known = [place for place in known if place in self._given_up] or known
        own = [place[1] for place in known if not is_library(place[0])]
        return own[0] if own else ""

    def left_out(self, group: Sequence[GraphBreak]) -> int | None:
        """Operators left out of graphs for the breaks at a line; None where it is not known."""
        if not self._known:
            return None
        places = {place for one in group if self.given_up(one) for place in self._of(one)}
        lines = {(one.file, one.line) for one in group}
        of_functions = sum(self._of_function[place] for place in places)
        return of_functions + sum(self._of_line[line] for line in lines)

    def _of(self, found: GraphBreak) -> list[Place]:
        names = dict.fromkeys(found.compile_ids)
        return [_place(self._frames[name]) for name in names if name in self._frames]


def _place(frame: Frame) -> Place:
    return frame.file, resumed_function(frame.function), frame.line


def of_breaks(group: Sequence[GraphBreak], functions: Functions, root: str) -> Finding:
    """The finding of all breaks at one line; the first in the user's own file speaks for them."""
    causes = different_causes(group)
    main = causes[0]
    skipped = next((one for one in (main, *group) if functions.given_up(one)), None)
    cost, weight = _cost(group, functions)
    what = title_of(causes)
    title = what
    if skipped:
        part = "the rest" if skipped.rest_eager else "all"
        title = f"{part} of {functions.given_up(skipped)}, because of {what}"
    kind = EAGER if skipped else BREAK
    if all(one.cause in INTENDED_CAUSES for one in causes):
        kind = INTENDED
    return Finding(
        kind=kind,
        title=one_line(title if kind == EAGER else what),
        cause=one_line(", ".join(dict.fromkeys(one.cause for one in causes))),
        causes=len(causes),
        place=shown_place(main.file, main.line, root),
        line=main.line,
        function=one_line(main.function),
        code=_code(causes, skipped),
        why=_why(causes, group, skipped, root),
        cost=cost,
        weight=weight,
        advice=advice_for_each(causes),
        remedies=remedies([fix for one in group for fix in one.fixes], main.file, root),
        facts=(*named_causes(causes, root), *_facts(group, root)),
        details=_details(group),
        stack=tuple(
            (one_line(location_text(place, root)), one_line(place.code)) for place in main.stack
        ),
        link=one_line(main.link) if main.link.startswith("https://") else "",
        in_torchs_words=not any(one.because and one.advice for one in causes),
    )


def _cost(group: Sequence[GraphBreak], functions: Functions) -> tuple[str, float]:
    operators = functions.left_out(group)
    hits = [one.hits for one in group if not isinstance(one.hits, Unavailable)]
    parts = []
    if operators:
        parts.append(f"{counted(operators, 'operator')} ran outside of graphs")
    if hits:
        parts.append(f"the program ran through it {counted(max(hits), 'time')}")
    elif not operators:
        reason = next((one.hits.reason for one in group if isinstance(one.hits, Unavailable)), "")
        parts.append(f"hits unavailable ({one_line(reason)})")
    return ", ".join(parts), operators or max(hits, default=0)


def _code(causes: Sequence[GraphBreak], skipped: GraphBreak | None) -> tuple[CodeLine, ...]:
    """The line with its carets, and above it the head of what it stands in."""
    main = causes[0]
    if not main.code:
        return ()
    text = printable(main.code).split("\n")[0]
    around = skipped.inside if skipped else None
    is_inside = around and around.code and around.file == main.file and around.line < main.line
    shift = "    " if is_inside else ""
    marks = [
        (first + len(shift), min(last, len(text)) + len(shift))
        for first, last in dict.fromkeys(one.caret for one in causes if one.caret)
    ]
    first, last = marks[0] if marks and main.caret else (0, 0)
    more = tuple(marks[1:] if main.caret else marks)
    own = CodeLine(main.line, shift + text, first, last, more)
    if not is_inside or around is None:
        return (own,)
    return CodeLine(around.line, one_line(around.code)), own


def _why(
    causes: Sequence[GraphBreak],
    group: Sequence[GraphBreak],
    skipped: GraphBreak | None,
    root: str,
) -> tuple[str, ...]:
    lines = reasons(causes)
    of_library = (
        one for one in group if one.consequence == "frame_skipped" and one.skipped_because
    )
    told = skipped or next(of_library, None)
    if told is not None and told.skipped_because:
        part = "From a line before it, the rest of the" if told.rest_eager else "The whole"
        subject = f"{part} function runs eager" if skipped else "The library's function runs eager"
        lines.append(f"{subject}: {told.skipped_because}{_origin(told.inside, root)}.")
    return tuple(text for text in map(one_line, "\n".join(lines).split("\n")) if text)


def _origin(place: SourceLocation | None, root: str) -> str:
    """What made it so, in brackets; a library's line, which nobody has before the eyes, in full."""
    if place is None:
        return ""
    code = f": `{place.code}`" if place.code and is_library(place.file) else ""
    return f" ({location_text(place, root)}{code})"


def _facts(group: Sequence[GraphBreak], root: str) -> tuple[tuple[str, str], ...]:
    records = sum(one.records for one in group)
    said = []
    for one in group:
        code = f" [{one.gb_code}]" if one.gb_code else ""
        at = f" at {location_text(one.points_to, root)}" if points_elsewhere(one) else ""
        times = f", {one.records} times" if one.records > 1 and len(group) > 1 else ""
        said.append(f"{one.kind}{code}{at}{times}")
    text = "; ".join(dict.fromkeys(said))
    return (("torch says", one_line(f"{text} ({counted(records, 'record')})")),)


def _details(group: Sequence[GraphBreak]) -> tuple[tuple[str, str], ...]:
    details = []
    for one in group:
        details += [("explanation", one_line(one.explanation))] if one.explanation else []
        details += [("context", one_line(one.context))] if one.context else []
        details += [("hint", one_line(hint)) for hint in one.hints]
    return tuple(dict.fromkeys(details))
