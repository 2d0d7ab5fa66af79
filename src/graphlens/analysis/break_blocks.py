"""Why a break costs the whole function: the statement its line stands in."""

from graphlens.analysis.crossed_values import resumed_function
from graphlens.analysis.library_calls import owner_of
from graphlens.analysis.places import is_library
from graphlens.analysis.source_code import Columns, SourceFile, SourceFiles
from graphlens.model import GraphBreak, SourceLocation


def whole_function(
    found: GraphBreak, files: SourceFiles, root: SourceLocation | None
) -> tuple[str, SourceLocation | None]:
    """Why the whole function, or the rest of it, runs eager, and what made it so.

    Args:
        found: With its cause.
        files: Of the user and the library.
        root: First line of the function that torch gave up on; of a library's, the reason says so.
    """
    if found.consequence != "frame_skipped" and not found.rest_eager:
        return "", None
    if found.cause == "user_exception":
        return "the exception leaves the function, and torch gives up on it for this call", None
    origin = found.inside
    kind = _HEADS.get(origin.code.split(maxsplit=1)[0]) if origin and origin.code else None
    if origin and is_library(origin.file):
        return _in_library(found, origin, kind, files), origin if kind else None
    if kind:
        return _SKIPPED[kind], origin
    if root is not None and is_library(root.file):
        return _of_library(found, root, files)
    wanted = _blocks_for(found.skipped_because)
    for place in _compiled_part(found, root, files):
        source = files.file(place.file)
        for block in source.blocks(place.line, _columns(found, place, source)):
            if block.kind in wanted:
                return _SKIPPED[block.kind], source.location(block)
    return "torch cannot go on after it in this function", None


def _of_library(
    found: GraphBreak, root: SourceLocation, files: SourceFiles
) -> tuple[str, SourceLocation | None]:
    """Why a library's function runs eager as a whole, and the library's line that made it so."""
    start = _root_frame(found, root, files)
    place = found.stack[start] if start is not None else root
    source = files.file(place.file)
    wanted = _blocks_for(found.skipped_because)
    block = next((one for one in source.blocks(place.line) if one.kind in wanted), None)
    if start is None or block is None:
        return _in_library(found, place, None, files), None
    return _in_library(found, place, block.kind, files), source.location(block)


def _in_library(
    found: GraphBreak, place: SourceLocation, kind: str | None, files: SourceFiles
) -> str:
    """The reason with the library's function in it, and the line that torch was at there."""
    owner = owner_of(place, files)
    where = f"`{owner.function}` of {owner.module}" if owner.function else owner.module
    name = owner.function.rpartition(".")[2]
    lines = [
        one.line
        for one in found.stack
        if one.file == place.file and resumed_function(one.function) == name
    ]
    if kind is not None:
        what = f"line {lines[-1]}" if lines else "a line"
        return f"in {where}, {_SKIPPED[kind].replace('the line', what, 1)}"
    return f"torch cannot go on {f'after line {lines[-1]} ' if lines else ''}in {where}"


def _compiled_part(
    found: GraphBreak, root: SourceLocation | None, files: SourceFiles
) -> list[SourceLocation]:
    """The user's frames from the line outwards to the function that was compiled.

    What is around the call of that function is no part of it: where it is not found among the
    frames, none counts.
    """
    start = _root_frame(found, root, files)
    if start is None:
        return []
    return [place for place in reversed(found.stack[start:]) if not is_library(place.file)]


def _root_frame(found: GraphBreak, root: SourceLocation | None, files: SourceFiles) -> int | None:
    """Which frame of the stack is the compiled function's; None where none is known to be."""
    if root is None:
        # Of a function that was compiled, the line's own frame is a part; a module never is.
        own = [n for n, place in enumerate(found.stack) if not is_library(place.file)]
        return own[-1] if own and found.stack[own[-1]].function != "<module>" else None
    name = resumed_function(root.function)
    source = files.file(root.file)
    function = source.function(root.line, name.rpartition(".")[2])
    for count in range(len(found.stack) - 1, -1, -1):
        place = found.stack[count]
        if place.file != root.file or resumed_function(place.function) != name:
            continue
        if function is not None and source.within(function, place.line):
            return count
    return None


def _columns(found: GraphBreak, place: SourceLocation, source: SourceFile) -> Columns | None:
    """What of a frame's line broke, if that is known."""
    if found.caret is None or (place.file, place.line) != (found.file, found.line):
        return None
    if place.line > len(source.lines):
        return None
    text = source.lines[place.line - 1]
    indent = len(text) - len(text.lstrip())
    return found.caret[0] + indent, found.caret[1] + indent


def _blocks_for(reason: str) -> tuple[str, ...]:
    if "loop" in reason:
        return ("loop",)
    if "ontext" in reason:
        return ("with",)
    return ("try", "with", "loop", "comprehension")


_HEADS = {"with": "with", "for": "loop", "while": "loop", "async": "with"}
_SKIPPED = {
    "loop": "the line is in a loop, and torch cannot leave a function in the middle of a loop",
    "with": "the line is inside a `with`, whose context manager torch cannot leave and enter again",
    "try": "the line is in a `try` statement, and torch cannot leave a function inside of one",
    "comprehension": "the line is in a comprehension, which torch cannot leave in the middle",
}
