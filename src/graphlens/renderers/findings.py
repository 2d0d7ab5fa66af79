"""What a reader of a report should act on, in one form for all formats.

Order: functions that fail or silently run eager, then graph breaks, then recompiles. A function
that was skipped because of a break is one finding, not two.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from graphlens.model import Frame, GraphBreak, GuardFailure, Recompile, Report, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.wording import counted, kept_graphs, location_text, shown_place

EAGER, FAILED, BREAK, RECOMPILE = "eager", "failed", "break", "recompile"
_OUTCOMES = {
    "skipped": (EAGER, "torch gave up on the whole function"),
    "recompile_limit": (
        EAGER,
        "calls that fit no compilation, since the recompile limit is reached",
    ),
    "failed": (FAILED, "compilation raised, and the error went to the caller"),
}
LABELS = {EAGER: "runs eager", FAILED: "failed", BREAK: "graph break", RECOMPILE: "recompile"}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to act on.

    Attributes:
        kind: ``eager``, ``failed``, ``break`` or ``recompile``.
        title: What it is, in a few words, to stand after the label.
        place: ``file:line`` of the user's line.
        line: The line's number.
        function: Function the line is in; empty when unknown.
        code: The line's text; empty when unknown.
        why: Explanation, whole, line by line.
        advice: What to do, best first.
        facts: Further facts as (name, text), short ones.
        details: Facts for formats that have room.
        stack: The call chain down to the line as (place, code), outermost first.
        link: Torch's page on it; only an https address, else empty.
    """

    kind: str
    title: str
    place: str
    line: int = 0
    function: str = ""
    code: str = ""
    why: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    stack: tuple[tuple[str, str], ...] = ()
    link: str = ""

    @property
    def label(self) -> str:
        """The kind in words."""
        return LABELS[self.kind]


def findings(report: Report, root: str = "") -> tuple[Finding, ...]:
    """All findings of a report; files below ``root`` are named relative to it."""
    breaks = () if isinstance(report.breaks, Unavailable) else report.breaks
    recompiles = () if isinstance(report.recompiles, Unavailable) else report.recompiles
    skipping = [item for item in breaks if item.consequence == "frame_skipped"]
    splitting = [item for item in breaks if item.consequence != "frame_skipped"]
    explained = {compile_id for item in skipping for compile_id in item.compile_ids}
    by_frame: dict[str, list[Recompile]] = {}
    for recompile in recompiles:
        by_frame.setdefault(recompile.frame, []).append(recompile)
    return (
        *(
            _of_frame(frame, root)
            for frame in report.frames
            if frame.outcome in _OUTCOMES and not _is_explained(frame, explained)
        ),
        *(_of_break(item, root) for item in skipping),
        *(_of_break(item, root) for item in splitting),
        *(_of_recompiles(frame, items, report, root) for frame, items in by_frame.items()),
    )


def headline(report: Report) -> str:
    """The counts, in one line; what is not known is named, never counted as none."""
    captured, lowered, discarded = kept_graphs(report)
    graphs = counted(len(captured), "graph")
    extra = [f"{len(lowered):,} lowered from them"] if lowered else []
    extra += [f"{len(discarded):,} discarded"] if discarded else []
    parts = [f"{graphs} ({', '.join(extra)})" if extra else graphs]
    breaks, recompiles = report.breaks, report.recompiles
    if isinstance(breaks, Unavailable):
        parts.append("graph breaks unknown")
    else:
        lines = {(item.file, item.line) for item in breaks}
        at = f" at {counted(len(lines), 'line')}" if breaks else ""
        parts.append(counted(len(breaks), "graph break") + at)
    parts += _frames_in_words(report)
    if isinstance(recompiles, Unavailable):
        parts.append("recompiles unknown")
    else:
        parts.append(counted(len(recompiles), "recompile"))
    return ", ".join(parts)


def unknowns(report: Report) -> list[tuple[str, str]]:
    """What could not be had, with its reason."""
    pairs = (("graph breaks", report.breaks), ("recompiles", report.recompiles))
    return [
        (name, one_line(value.reason)) for name, value in pairs if isinstance(value, Unavailable)
    ]


def frame_kinds(report: Report) -> list[str] | None:
    """``eager`` or ``failed`` for each frame that was not simply compiled; None if not known.

    Without torch's trace no frame is known, so none can be said to have run eager.
    """
    if isinstance(report.breaks, Unavailable) and not report.frames:
        return None
    return [_OUTCOMES[frame.outcome][0] for frame in report.frames if frame.outcome in _OUTCOMES]


def _frames_in_words(report: Report) -> Iterator[str]:
    kinds = frame_kinds(report)
    if kinds is None:
        yield "frames that ran eager unknown"
        return
    yield f"{counted(kinds.count(EAGER), 'frame')} ran eager"
    if FAILED in kinds:
        yield f"{counted(kinds.count(FAILED), 'frame')} failed"


def _is_explained(frame: Frame, explained: set[str]) -> bool:
    return frame.outcome == "skipped" and any(
        compilation.compile_id in explained for compilation in frame.compilations
    )


def _of_frame(frame: Frame, root: str) -> Finding:
    kind, text = _OUTCOMES[frame.outcome]
    callers = {
        location_text(compilation.called_from, root): None
        for compilation in frame.compilations
        if compilation.called_from
    }
    facts = [("called from", ", ".join(callers))] if callers else []
    compiled = sum(compilation.outcome == "compiled" for compilation in frame.compilations)
    if compiled:
        facts.append(("compiled", f"{counted(compiled, 'time')} before"))
    why, advice = _told(frame.reason)
    return Finding(
        kind=kind,
        title=text,
        place=shown_place(frame.file, frame.line, root),
        line=frame.line,
        function=one_line(frame.function),
        why=why,
        advice=advice,
        facts=_clean(facts),
    )


def _told(reason: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Explanation and hints in torch's message on a frame; the message itself where it has none."""
    explanation: list[str] = []
    hints: list[str] = []
    for line in reason.split("\n")[1:]:
        text = line.strip()
        if text.startswith("Explanation: "):
            explanation.append(text.removeprefix("Explanation: "))
        elif text.startswith("Hint: "):
            hints.append(text.removeprefix("Hint: "))
        elif explanation and text.startswith(("Developer debug context:", "***")):
            break
    lines = explanation or reason.split("\n")
    return _lines(lines), tuple(map(one_line, hints))


def _of_break(item: GraphBreak, root: str) -> Finding:
    skipped = item.consequence == "frame_skipped"
    consequence = "a graph break skips the whole function: " if skipped else ""
    code = f" [{item.gb_code}]" if item.gb_code else ""
    seen = [counted(item.records, "record")]
    if isinstance(item.hits, Unavailable):
        seen.append(f"hits unavailable ({item.hits.reason})")
    else:
        seen.append(f"the program ran through it {counted(item.hits, 'time')}")
    facts, details = [("seen", ", ".join(seen))], []
    if item.context:
        details.append(("context", item.context))
    if item.points_to and (item.points_to.file, item.points_to.line) != (item.file, item.line):
        facts.append(("torch points to", location_text(item.points_to, root)))
    return Finding(
        kind=EAGER if skipped else BREAK,
        title=one_line(f"{consequence}{item.kind}{code}"),
        place=shown_place(item.file, item.line, root),
        line=item.line,
        function=one_line(item.function),
        code=one_line(item.code),
        why=_lines(item.explanation.split("\n")),
        advice=tuple(map(one_line, item.advice or item.hints)),
        facts=_clean(facts),
        details=_clean(details),
        stack=tuple(
            (one_line(location_text(frame, root)), one_line(frame.code)) for frame in item.stack
        ),
        link=one_line(item.link) if item.link.startswith("https://") else "",
    )


def _of_recompiles(frame: str, items: list[Recompile], report: Report, root: str) -> Finding:
    """All recompiles of one frame: they have one place, and mostly one reason."""
    refused = {
        compilation.compile_id
        for known in report.frames
        if known.id == frame
        for compilation in known.compilations
        if compilation.outcome == "recompile_limit"
    }
    again = sum(item.compile_id not in refused for item in items)
    title = f"{items[0].function} was compiled again"
    if again == 0:
        title = f"{items[0].function} was not compiled again: it has reached the limit"
    elif again > 1:
        title += f" {again:,} times"
    facts, details = [], []
    for item in items:
        causes = [_cause(cause) for cause in item.causes]
        more = f"; {counted(len(causes) - 1, 'more guard')} failed" if len(causes) > 1 else ""
        limit = " (refused: the limit is reached)" if item.compile_id in refused and again else ""
        facts.append((item.compile_id, (causes or ["no guard was named"])[0] + more + limit))
        details += [fact for cause in item.causes for fact in _whole_cause(item, cause, root)]
    return Finding(
        kind=RECOMPILE,
        title=one_line(title),
        place=shown_place(items[0].file, items[0].line, root),
        line=items[0].line,
        function=one_line(items[0].function),
        advice=tuple(dict.fromkeys(one_line(text) for item in items for text in item.advice)),
        facts=_clean(facts),
        details=_clean(details),
    )


def _cause(cause: GuardFailure) -> str:
    changed = cause.guard
    if cause.source and cause.expected and cause.actual:
        changed = f"{cause.source}: {cause.expected} -> {cause.actual}"
    elif cause.source and cause.expected:
        changed = f"{cause.source} is no longer {cause.expected}"
    elif cause.source and cause.actual:
        changed = f"{cause.source} is now {cause.actual}"
    return f"{changed} (guard of {cause.failed})" if cause.failed else changed


def _whole_cause(item: Recompile, cause: GuardFailure, root: str) -> Iterator[tuple[str, str]]:
    yield f"{item.compile_id} guard of {cause.failed}", cause.guard
    if cause.user_line:
        code = f": {cause.user_line.code}" if cause.user_line.code else ""
        yield f"{item.compile_id} guarded at", f"{location_text(cause.user_line, root)}{code}"


def _lines(lines: list[str]) -> tuple[str, ...]:
    return tuple(text for text in map(one_line, lines) if text)


def _clean(facts: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((one_line(name), one_line(text)) for name, text in facts)
