"""Rewrites that take away what a recompile was for: loops over the rows of a tensor."""

import ast
from collections.abc import Iterator, Sequence

import msgspec

from graphlens.analysis.rewrites import Rewrite, as_fix, rewrites
from graphlens.analysis.source_code import SourceFile, SourceFiles
from graphlens.model import Fix, Recompile

CAUSE = "container_length"


def with_rewrites(recompiles: Sequence[Recompile], files: SourceFiles) -> tuple[Recompile, ...]:
    """Recompiles with rewrites of loops that make the number of rows part of the program.

    A loop over a tensor is unrolled: each number of rows is a program of its own, and no setting
    helps against that.
    """
    known: dict[tuple[str, int], tuple[Fix, ...]] = {}

    def completed(one: Recompile) -> Recompile:
        if not any(_is_of_rows(change.subject) for change in one.differences):
            return one
        key = (one.file, one.line)
        if key not in known:
            known[key] = tuple(map(as_fix, loop_rewrites(files.file(one.file), one.line)))
        return msgspec.structs.replace(one, fixes=(*known[key], *one.fixes))

    return tuple(completed(one) for one in recompiles)


def loop_rewrites(source: SourceFile, line: int) -> Iterator[Rewrite]:
    """Rewrites of the loops in the function that begins at a line, the first of each loop."""
    for loop in _loops(source, line):
        yield from rewrites(source.text, source.name, loop, CAUSE)[:1]


def _is_of_rows(subject: str) -> bool:
    return subject.endswith(", dimension 0") or subject.startswith("length of ")


def _loops(source: SourceFile, line: int) -> list[int]:
    """First lines of the loops in the function that begins at a line."""
    function = source.beginning(line)
    if function is None:
        return []
    return [node.lineno for node in ast.walk(function) if isinstance(node, ast.For)]
