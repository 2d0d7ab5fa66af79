"""Changes to a text, and the unified diff that says them."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphlens.analysis.rewrites.text import Refused, Span

_NO_LINE_END = "\\ No newline at end of file\n"


@dataclass(frozen=True, order=True)
class Edit:
    """Text in place of what stands from start to end."""

    start: int
    end: int
    text: str


def apply(source: str, edits: Iterable[Edit], within: Span | None = None) -> str:
    """The source, or a part of it, with edits; the edits must not overlap."""
    at, stop = within or (0, len(source))
    parts: list[str] = []
    for edit in sorted(set(edits)):
        if edit.start < at or edit.end > stop:
            raise Refused
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, source[at:stop]])


def unified_diff(old: str, new: str, path: str) -> str:
    """What turns the old text into the new one, with three lines of context."""
    # With a space in it, tools read a path only up to a tab: git writes one as well.
    header = f"{path}\t" if re.search(r"\s", path) else path
    lines = difflib.unified_diff(_lines(old), _lines(new), header, header)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}" for line in lines)


def _lines(text: str) -> list[str]:
    # Only "\n" ends a line for a tool that applies a diff.
    return re.findall(r"[^\n]*\n|[^\n]+", text)
