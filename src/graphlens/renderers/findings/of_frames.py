"""Functions that run eager or failed, for a reason that is no graph break."""

from graphlens.model import Frame
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings.finding import FRAME_KINDS, Finding
from graphlens.renderers.wording import counted, location_text, shown_place

_TITLES = {
    "skipped": "torch gave up on the whole function",
    "recompile_limit": "calls that fit no compilation, since the recompile limit is reached",
    "failed": "compilation raised, and the error went to the caller",
}


def of_frame(frame: Frame, root: str) -> Finding:
    """The finding of one frame."""
    callers = {
        location_text(compilation.called_from, root): None
        for compilation in frame.compilations
        if compilation.called_from
    }
    facts = [("called from", one_line(", ".join(callers)))] if callers else []
    compiled = sum(compilation.outcome == "compiled" for compilation in frame.compilations)
    if compiled:
        facts.append(("compiled", f"{counted(compiled, 'time')} before"))
    why, advice = _told(frame.reason)
    return Finding(
        kind=FRAME_KINDS[frame.outcome],
        title=_TITLES[frame.outcome],
        place=shown_place(frame.file, frame.line, root),
        line=frame.line,
        function=one_line(frame.function),
        why=why,
        advice=advice,
        facts=tuple(facts),
        in_torchs_words=True,
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
