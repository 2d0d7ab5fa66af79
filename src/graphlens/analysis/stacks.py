"""Tracebacks as torch writes them into records and node metadata."""

import re

import msgspec

from graphlens.model import SourceLocation

_FRAME = re.compile(r'^\s*File "(?P<file>.*?)", line (?P<line>\d+), in (?P<function>.*)$')
_CARETS = re.compile(r"^[\s^~]*$")


def parse_stack(text: str) -> tuple[SourceLocation, ...]:
    """The frames of a traceback, outermost first; stops at the blank line that ends it."""
    frames: list[SourceLocation] = []
    for line in text.lstrip("\n").splitlines():
        match = _FRAME.match(line)
        if match:
            frames.append(
                SourceLocation(
                    file=match["file"], line=int(match["line"]), function=match["function"]
                )
            )
        elif not line.strip():
            break
        elif frames and not frames[-1].code and not _CARETS.match(line):
            frames[-1] = msgspec.structs.replace(frames[-1], code=line.strip())
    return tuple(frames)


def caret_of(text: str, place: SourceLocation) -> tuple[int, int] | None:
    """Which columns of a frame's line a traceback marks, from 0 in the line without indentation.

    Args:
        text: The traceback. Python 3.11 and later mark lines; a whole line is not marked.
        place: The frame; the innermost of several with the same line counts.

    Returns:
        The first column and the one after the last; None where nothing is marked.
    """
    lines = text.splitlines()
    for number in range(len(lines) - 3, -1, -1):
        match = _FRAME.match(lines[number])
        if match and (match["file"], int(match["line"])) == (place.file, place.line):
            code, marks = lines[number + 1], lines[number + 2]
            if not marks.strip() or not _CARETS.match(marks):
                return None
            indent = len(code) - len(code.lstrip())
            first = len(marks) - len(marks.lstrip()) - indent
            return first, len(marks.rstrip()) - indent
    return None
