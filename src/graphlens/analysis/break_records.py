"""Graph breaks from torch's ``dynamo_graph_break_reason`` records.

The text is torch's own report to the user (``torch._dynamo.exc.format_graph_break_message`` and
its callers; seen on torch 2.11, 2.13 and 2.14): the place, the reason, an explanation, hints, a
context for developers, a link, and the user's stack, then for a frame that was given up the
stack inside Dynamo.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from graphlens.analysis.places import user_frame
from graphlens.analysis.stacks import caret_of, parse_stack
from graphlens.model import GraphBreak, SourceLocation, TraceRecord

KIND = "dynamo_graph_break_reason"

_SECTIONS = (
    r"^  Explanation:",
    r"^  Hint:",
    r"^  Developer debug context:",
    r"^ For more details",
    r"^Stack variable source attribution:",
    r"^User code traceback:",
)
_END = rf"\s*(?={'|'.join(_SECTIONS)}|\Z)"


def _section(start: str) -> re.Pattern[str]:
    """A pattern for the text from a heading up to the next one."""
    return re.compile(rf"^{start} ?(?P<text>.*?){_END}", re.M | re.S)


_PLACE = re.compile(r"^Graph break in user code at (?P<file>.*?):(?P<line>\d+)\s*$", re.M)
_REASON = _section("Graph Break Reason:")
_EXPLANATION = _section("  Explanation:")
_HINT = _section("  Hint:")
_CONTEXT = _section("  Developer debug context:")
_LINK = re.compile(r"please visit: (?P<url>\S+?(?P<code>gb\d+)\.html)")
_SKIPPED = "Skipping the f"  # "Skipping the function" or "Skipping the frame"
_REST = "then skipping the rest of the function"
_FIRST_OF_TWO = "*** While handling this graph break, another graph break occurred: ***"
_OPERATOR = "Higher Order Operator:"
# A branch on a number out of a tensor, which torch reports as this on its way through a call and
# as a branch once the frame of the line is compiled by itself.
_GUARD = "Could not guard on data-dependent expression"
_BRANCH = "Data-dependent branching"
_FOOTER = "For more information about this error, see:"
_ORIGIN = re.compile(
    r"^\s*(?P<what>\w+)\(.*?\) originated from:\n\s*File \"(?P<file>.*?)\", line (?P<line>\d+)"
    r".*\n\s*(?P<code>.*)",
    re.M,
)


def is_graph_break(record: TraceRecord) -> bool:
    """Whether a record reports a graph break."""
    return record.kind == KIND and _PLACE.search(record.payload) is not None


def parse_break(record: TraceRecord) -> GraphBreak:
    """One record as a break with one record and unknown hits."""
    text = record.payload
    body, _, rest = text.partition("User code traceback:")
    first, _, second = body.partition(_FIRST_OF_TWO)
    place = _PLACE.search(first)
    reason = _REASON.search(first)
    lines = [line.strip() for line in (reason["text"].splitlines() if reason else [])]
    operators = [line for line in lines if line.startswith(_OPERATOR)]
    stack = parse_stack(rest)
    points_to = _points_to(place, stack)
    own = user_frame(stack) or points_to or SourceLocation(file="", line=0)
    explanation = _EXPLANATION.search(first)
    context = _CONTEXT.search(first)
    link = _LINK.search(first)
    return GraphBreak(
        file=own.file,
        line=own.line,
        function=own.function,
        code=own.code,
        caret=caret_of(rest, own),
        kind=_kind([line for line in lines if line and line not in operators]),
        operator=operators[-1].removeprefix(_OPERATOR).strip() if operators else "",
        gb_code=link["code"].upper() if link else "",
        link=link["url"] if link else "",
        consequence="frame_skipped" if _SKIPPED in text else "split",
        rest_eager=_REST in text and _SKIPPED not in text,
        skipped_because=_second_reason(second) if _SKIPPED in text else "",
        inside=_origin(body),
        explanation=_joined(explanation["text"]) if explanation else "",
        hints=tuple(_joined(hint["text"]) for hint in _HINT.finditer(first)),
        context=_joined(context["text"]) if context else "",
        points_to=points_to,
        stack=stack,
        compile_ids=(record.compile_id,) if record.compile_id else (),
    )


def parse_error(message: str, place: SourceLocation, stack: str, compile_id: str) -> GraphBreak:
    """A break that was an error and so has no record, as under ``fullgraph=True``.

    Args:
        message: The error's, as the compilation's metrics have it.
        place: The line that torch was at.
        stack: The user's stack down to it, as Python writes tracebacks; empty where not known.
        compile_id: Of the compilation that it ended.
    """
    text = (
        f"Graph break in user code at {place.file}:{place.line}\n"
        f"Graph Break Reason: {message.strip()}\n\nUser code traceback:\n{stack}"
    )
    return parse_break(TraceRecord(kind=KIND, compile_id=compile_id, payload=text))


@dataclass(frozen=True)
class _Key:
    file: str
    line: int
    kind: str


def collect_breaks(records: Iterable[TraceRecord]) -> tuple[GraphBreak, ...]:
    """Every break once, in the order first met.

    Torch logs one cause once for every inlining level and attempt. Two records are one break when
    they name the same user's line and the same kind.
    """
    breaks: dict[_Key, GraphBreak] = {}
    for record in records:
        if not is_graph_break(record):
            continue
        new = parse_break(record)
        key = _Key(new.file, new.line, _BRANCH if new.kind == _GUARD else new.kind)
        breaks[key] = _merged(breaks[key], new) if key in breaks else new
    return tuple(breaks.values())


def _merged(first: GraphBreak, again: GraphBreak) -> GraphBreak:
    skipped = "frame_skipped" in (first.consequence, again.consequence)
    named = again if first.kind == _GUARD else first
    return msgspec.structs.replace(
        first,
        kind=named.kind,
        gb_code=named.gb_code,
        link=named.link,
        context=named.context,
        records=first.records + again.records,
        compile_ids=tuple(dict.fromkeys(first.compile_ids + again.compile_ids)),
        consequence="frame_skipped" if skipped else "split",
        rest_eager=not skipped and (first.rest_eager or again.rest_eager),
        explanation=first.explanation or again.explanation,
        hints=first.hints or again.hints,
        skipped_because=first.skipped_because or again.skipped_because,
        inside=first.inside or again.inside,
        operator=first.operator or again.operator,
    )


def _kind(lines: list[str]) -> str:
    """Torch's kind, from the reason: its last line, after those that say what torch was doing.

    A user error has no kind, but a text of many lines, whose last is a link.
    """
    if any(_GUARD in line for line in lines):
        return _GUARD
    told = [line for line in lines if not line.startswith(_FOOTER)]
    if len(told) == len(lines):
        return lines[-1] if lines else "not stated"
    said = [line for line in told if not line.endswith(":")] or told
    return said[0] if said else "not stated"


def _second_reason(text: str) -> str:
    """Why the first break could not be handled: the kind of the one that it caused."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _origin(body: str) -> SourceLocation | None:
    """Where the value on Dynamo's stack is from that cannot be carried over the break."""
    match = _ORIGIN.search(body)
    if match is None:
        return None
    return SourceLocation(file=match["file"], line=int(match["line"]), code=match["code"].strip())


def _points_to(
    place: re.Match[str] | None, stack: tuple[SourceLocation, ...]
) -> SourceLocation | None:
    if place is None:
        return None
    file, line = place["file"], int(place["line"])
    for frame in reversed(stack):
        if (frame.file, frame.line) == (file, line):
            return frame
    return SourceLocation(file=file, line=line)


def _joined(text: str) -> str:
    """A text of several lines with its indentation taken off, inner line breaks kept."""
    return "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())
