"""Functions that run eager or failed, for a reason that is no graph break."""

from dataclasses import replace

from graphlens.model import Failure, Frame, SourceLocation
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings.finding import FRAME_KINDS, CodeLine, Finding
from graphlens.renderers.findings.of_breaks import Functions, of_breaks
from graphlens.renderers.wording import counted, location_text, shown_place

_TITLES = {
    "skipped": "torch gave up on the whole function",
    "recompile_limit": "calls that fit no compilation, since the recompile limit is reached",
    "failed": "compilation raised, and the error went to the caller",
}


def of_frame(frame: Frame, failure: Failure | None, functions: Functions, root: str) -> Finding:
    """The finding of one frame.

    Args:
        frame: That runs eager or failed.
        failure: What stopped the backend on its graph; None where that was not it.
        functions: All of the report.
        root: Files below it are named relative to it.
    """
    where = _where(frame, failure)
    facts = [("function", shown_place(frame.file, frame.line, root))]
    facts = facts if (where.file, where.line) != (frame.file, frame.line) else []
    callers = {
        location_text(compilation.called_from, root): None
        for compilation in frame.compilations
        if compilation.called_from
    }
    facts += [("called from", one_line(", ".join(callers)))] if callers else []
    if frame.error is not None:
        return _of_error(of_breaks([frame.error], functions, root), facts)
    compiled = sum(compilation.outcome == "compiled" for compilation in frame.compilations)
    if compiled:
        facts.append(("compiled", f"{counted(compiled, 'time')} before"))
    why, advice = _told(frame.reason)
    title = _TITLES[frame.outcome]
    if failure is not None and frame.outcome == "failed":
        on = f" on {failure.operator}" if failure.operator else ""
        title, advice = f"the backend raised{on}, and the error went to the caller", (_BACKEND,)
    return Finding(
        kind=FRAME_KINDS[frame.outcome],
        title=one_line(title),
        place=shown_place(where.file, where.line, root),
        line=where.line,
        function=one_line(frame.function),
        code=(CodeLine(where.line, one_line(where.code)),) if where.code else (),
        why=why,
        advice=advice,
        facts=tuple(facts),
        in_torchs_words=True,
    )


def _of_error(found: Finding, facts: list[tuple[str, str]]) -> Finding:
    """A break that was an error says why in the words of one that was not."""
    return replace(
        found,
        kind=FRAME_KINDS["failed"],
        title=f"a graph break where none is allowed: {found.title}",
        cost="",
        weight=0.0,
        facts=(*facts, *found.facts),
    )


def _where(frame: Frame, failure: Failure | None) -> SourceLocation:
    """The user's line to look at: that of the operator, or that torch was at, or the function."""
    if failure is not None and failure.source is not None:
        return failure.source
    failed = [one.failed_at for one in frame.compilations if one.failed_at]
    if failed and frame.outcome == "failed":
        return failed[-1]
    return SourceLocation(file=frame.file, line=frame.line)


_BACKEND = (
    "Call the line in a function marked with @torch.compiler.disable until the backend can; it is "
    "no fault of the program where eager runs it."
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
    why = tuple(text for text in map(one_line, lines) if text)
    return why, tuple(map(one_line, hints))
