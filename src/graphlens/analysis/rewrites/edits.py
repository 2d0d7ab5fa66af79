"""Changes to a text, and the unified diff that says them."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphlens.analysis.rewrites.text import Refused, Span

_CONTEXT = 3
_HUNK = re.compile(r"^@@ -(?P<old>\d+)(?P<a>[,\d]*) \+(?P<new>\d+)(?P<b>[,\d]*) @@")
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
    before, after = _lines(old), _lines(new)
    first, last = _changed_lines(before, after)
    window = slice(first, len(before) - last), slice(first, len(after) - last)
    lines = difflib.unified_diff(before[window[0]], after[window[1]], header, header)
    moved = (_HUNK.sub(lambda hunk: _moved(hunk, first), line, count=1) for line in lines)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}" for line in moved)


def _changed_lines(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines at the start and at the end stay, less those of the diff's context.

    Looking for what is equal takes time with the length of the file, and a change is short.
    """
    most = min(len(before), len(after))
    first = 0
    while first < most and before[first] == after[first]:
        first += 1
    last = 0
    while last < most - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return max(0, first - _CONTEXT), max(0, last - _CONTEXT)


def _moved(hunk: re.Match[str], lines: int) -> str:
    """A hunk's head with the lines counted from the start of the file."""
    return f"@@ -{int(hunk['old']) + lines}{hunk['a']} +{int(hunk['new']) + lines}{hunk['b']} @@"


def _lines(text: str) -> list[str]:
    # Only "\n" ends a line for a tool that applies a diff.
    return re.findall(r"[^\n]*\n|[^\n]+", text)
