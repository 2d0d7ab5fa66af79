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
