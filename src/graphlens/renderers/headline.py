"""The counts of a report in one line, and what could not be counted."""

from collections.abc import Iterator

from graphlens.model import Report, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings.finding import EAGER, FAILED, FRAME_KINDS
from graphlens.renderers.wording import counted, kept_graphs


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
    return [FRAME_KINDS[frame.outcome] for frame in report.frames if frame.outcome in FRAME_KINDS]


def _frames_in_words(report: Report) -> Iterator[str]:
    kinds = frame_kinds(report)
    if kinds is None:
        yield "frames that ran eager unknown"
        return
    yield f"{counted(kinds.count(EAGER), 'frame')} ran eager"
    if FAILED in kinds:
        yield f"{counted(kinds.count(FAILED), 'frame')} failed"
