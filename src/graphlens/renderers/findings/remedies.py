"""Fixes as they are shown."""

from collections.abc import Sequence

from graphlens.analysis.trial_results import in_words
from graphlens.model import NOT_TRIED, Fix, Unavailable
from graphlens.renderers.escape import one_line, printable
from graphlens.renderers.findings.finding import Remedy
from graphlens.renderers.wording import shown_path


def remedies(fixes: Sequence[Fix], file: str, root: str) -> tuple[Remedy, ...]:
    """Fixes of a finding in a file, each once."""
    unique = {(fix.code, fix.diff): fix for fix in reversed(fixes)}
    return tuple(_remedy(fix, file, root) for fix in reversed(unique.values()))


def _remedy(fix: Fix, file: str, root: str) -> Remedy:
    lines = printable(fix.diff).split("\n") if fix.diff else []
    return Remedy(
        title=one_line(fix.title),
        code=one_line(fix.code),
        diff=tuple(line for line in lines[2:] if line),
        file=shown_path(file, root) if fix.diff else "",
        caution=one_line(fix.caution),
        tried=_tried(fix),
    )


def _tried(fix: Fix) -> str:
    if isinstance(fix.trial, Unavailable):
        return "" if fix.trial == NOT_TRIED else one_line(fix.trial.reason)
    return f"tried: {in_words(fix.trial)}"
