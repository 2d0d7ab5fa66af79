"""Several rewrites of one file as one."""

import difflib
from collections.abc import Iterable


def merged(source: str, changed: Iterable[str]) -> str:
    """The source with the changes of all; of two that touch the same lines, the first counts.

    Args:
        source: Text of the file.
        changed: Texts of the file, each with one rewrite.
    """
    lines = source.splitlines(keepends=True)
    edits: list[tuple[int, int, list[str]]] = []
    for text in changed:
        new = text.splitlines(keepends=True)
        matcher = difflib.SequenceMatcher(None, lines, new, autojunk=False)
        own = [
            (first, last, new[begin:end])
            for tag, first, last, begin, end in matcher.get_opcodes()
            if tag != "equal"
        ]
        if all(edit in edits or not any(_touch(edit, other) for other in edits) for edit in own):
            edits += [edit for edit in own if edit not in edits]
    for first, last, text_lines in sorted(edits, reverse=True):
        lines[first:last] = text_lines
    return "".join(lines)


def _touch(one: tuple[int, int, list[str]], other: tuple[int, int, list[str]]) -> bool:
    """Whether two replace the same line, or insert at the same place."""
    if one[0] == one[1] or other[0] == other[1]:
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]
