"""Changes to a text, and the unified diff that says them."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphlens.analysis.rewrites.text import Refused, Span

_CONTEXT = 3
_MARK = "\0"  # Python has none in a source
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
    start, end = _unchanged(old, new)
    first, last = _context(old, start, len(old) - end)
    head = _marked(_lines(old[first:start]), "before")
    tail = _marked(_lines(old[len(old) - end : last]), "after")
    before, after = ([*head, *_lines(text[start : len(text) - end]), *tail] for text in (old, new))
    marked = difflib.unified_diff(before, after, header, header)
    number = old.count("\n", 0, first)
    lines = (_HUNK.sub(lambda hunk: _moved(hunk, number), line, count=1) for line in marked)
    plain = (line.partition(_MARK)[0] for line in lines)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}" for line in plain)


def _unchanged(old: str, new: str) -> tuple[int, int]:
    """How much at the start and at the end stays, in whole lines.

    Going through all lines of a file for each of its breaks takes long, and a change is short.
    """
    start = old.rfind("\n", 0, _common(old, new)) + 1
    most = min(len(old), len(new)) - start
    end = min(_common(old[::-1], new[::-1]), most)
    # What may be only a part of a line is left to the change.
    return start, len(old) - (old.find("\n", len(old) - end) + 1 or len(old))


def _context(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the lines begin and end that a diff shows around a change."""
    for _ in range(_CONTEXT):
        start = text.rfind("\n", 0, max(0, start - 1)) + 1
        end = text.find("\n", end) + 1 or len(text)
    return start, end


def _marked(lines: list[str], where: str) -> list[str]:
    """Lines that are the same as no other: else a diff may take those of a change for them.

    A hunk without lines around its change is only applied at the end of a file.
    """
    return [f"{line}{_MARK}{where} {number}" for number, line in enumerate(lines)]


def _common(one: str, other: str) -> int:
    """How many characters at the start are the same."""
    known, most = 0, min(len(one), len(other))
    while known < most:
        middle = (known + most + 1) // 2
        if one[known:middle] == other[known:middle]:
            known = middle
        else:
            most = middle - 1
    return known


def _moved(hunk: re.Match[str], lines: int) -> str:
    """A hunk's head with the lines counted from the start of the file."""
    return f"@@ -{int(hunk['old']) + lines}{hunk['a']} +{int(hunk['new']) + lines}{hunk['b']} @@"


def _lines(text: str) -> list[str]:
    # Only "\n" ends a line for a tool that applies a diff.
    return re.findall(r"[^\n]*\n|[^\n]+", text)
