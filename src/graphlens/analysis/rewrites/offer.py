"""Which rewrites there are for a break."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from graphlens.analysis.rewrites.copies import copy_twins
from graphlens.analysis.rewrites.decide import decide, decide_converted
from graphlens.analysis.rewrites.edits import apply, unified_diff
from graphlens.analysis.rewrites.loops import at_once
from graphlens.analysis.rewrites.masked_writes import assign_masked
from graphlens.analysis.rewrites.masks import unmask
from graphlens.analysis.rewrites.nonzero import count_nonzero
from graphlens.analysis.rewrites.numbers_kept import keep_numbers
from graphlens.analysis.rewrites.place import Draft, Place, at
from graphlens.analysis.rewrites.program import FUNCTIONS, Program, parse, parse_again
from graphlens.analysis.rewrites.tell import clock, tell
from graphlens.analysis.rewrites.text import Refused, Span, Text, last_line
from graphlens.model import Fix

_BYTE_ORDER_MARK = "\ufeff"
_Rule = Callable[[Place], list[Draft]]
# One break of a file is mostly followed by others of the same.
_text_again = lru_cache(maxsize=1)(Text)


@dataclass(frozen=True)
class Rewrite:
    """A file with one finding taken out of it.

    Attributes:
        title: What it does, in one line.
        source: The whole file's new text.
        diff: What changes, as a unified diff.
        caution: What it changes besides; empty when nothing.
    """

    title: str
    source: str
    diff: str
    caution: str


def as_fix(rewrite: Rewrite) -> Fix:
    """A rewrite as a report holds it."""
    return Fix(kind="rewrite", title=rewrite.title, diff=rewrite.diff, caution=rewrite.caution)


def rewrites(source: str, file: str, line: int, cause: str) -> tuple[Rewrite, ...]:
    """Rewrites of a file that take a graph break out of it.

    The rest of the file stays as it is, byte for byte. A rewrite keeps what the code means but
    for its caution; where that is not known to be so, there is none.

    Args:
        source: The file's text, with the line ends it has.
        file: Its path, for the diff.
        line: Line of the break, from 1; it may be any line of its statement.
        cause: GraphLens's class of cause, such as ``data_dependent_branch``.

    Returns:
        The rewrites, best first; none where no safe one is known, or the file is not Python.
    """
    rules = _RULES.get(cause, ())
    if not rules or not file.endswith((".py", ".pyw")) or re.search(r"\r(?!\n)", source):
        return ()
    mark = _BYTE_ORDER_MARK if source.startswith(_BYTE_ORDER_MARK) else ""
    body = source.removeprefix(mark)
    found: dict[str, Rewrite] = {}
    for rule in rules:
        for draft, new in _tried(rule, body, line):
            diff = unified_diff(source, mark + new, file)
            found.setdefault(new, Rewrite(draft.title, mark + new, diff, draft.caution))
    return tuple(found.values())


def _tried(rule: _Rule, source: str, line: int) -> list[tuple[Draft, str]]:
    """What a rule offers, with the file's text after it; nothing where it refuses."""
    try:
        program = Program(_text_again(source), parse_again(source), line)
        place = at(program, _function_code(program))
        done = [(draft, _applied(draft, place)) for draft in rule(place)]
        return [(draft, new) for draft, new in done if new != source]
    except (Refused, RecursionError):
        return []


def _applied(draft: Draft, place: Place) -> str:
    needs = any(re.search(rf"\b{place.torch}\.", edit.text) for edit in draft.edits)
    new = apply(place.text.source, (*draft.edits, *(place.imports if needs else ())))
    _check(draft, place)
    return new


def _check(draft: Draft, place: Place) -> None:
    """To be sure that what is offered is Python: all that stands around the change is parsed.

    Raises:
        Refused: It is not.
    """
    parse(apply(place.text.source, draft.edits, _around(draft, place)))


def _around(draft: Draft, place: Place) -> Span | None:
    """Whole lines of the top statement on the line, if all edits are in it; None else."""
    starts = place.text.starts
    for node in place.program.tops:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        end = starts[last_line(node)] if last_line(node) < len(starts) else len(place.text.source)
        span = (starts[first - 1], end)
        if all(span[0] <= edit.start and edit.end <= span[1] for edit in draft.edits):
            return span
    return None


def _function_code(program: Program) -> ast.AST:
    """What stands on a line: a statement of a function, or a lambda outside of functions."""
    statement = program.innermost()
    if any(isinstance(outer, FUNCTIONS) for outer in program.above(statement)):
        return statement
    found = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Lambda) and node.lineno <= program.line <= last_line(node)
    ]
    if len(found) != 1:
        raise Refused
    return found[0].body


_RULES: dict[str, tuple[_Rule, ...]] = {
    "autograd_function": (copy_twins,),
    "container_length": (at_once,),
    "data_dependent_branch": (decide,),
    "data_dependent_output_shape": (unmask, count_nonzero, assign_masked),
    "logging_call": (partial(tell, what="log"),),
    "print_call": (partial(tell, what="print"),),
    "tensor_to_python_number": (keep_numbers, decide_converted, partial(tell, what="call")),
    "untraceable_builtin": (partial(tell, what="call"), clock),
    "warnings_call": (partial(tell, what="warn"),),
}
