"""Statements that run only where the code is not compiled."""

import ast
from collections.abc import Iterable

from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.place import Place
from graphlens.analysis.rewrites.text import Refused, last_line

_LOOSE = (ast.IfExp, ast.Lambda, ast.NamedExpr)


def guard(statements: Iterable[ast.stmt], place: Place) -> list[Edit]:
    """Puts statements under a guard; those next to each other share one."""
    waiting = sorted(set(statements), key=lambda statement: statement.lineno)
    edits: list[Edit] = []
    while waiting:
        block = place.program.block(waiting[0])
        run = [waiting.pop(0)]
        while waiting and _follows(run[-1], waiting[0], block):
            run.append(waiting.pop(0))
        edits += _guarded(run, place)
    return edits


def guard_test(test: ast.expr, place: Place) -> list[Edit]:
    """Asks first whether the code is compiled: then the rest of a condition is not looked at."""
    start, end = place.text.span(test)
    either = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
    front = f"not {place.torch}.compiler.is_compiling() and "
    if either or isinstance(test, _LOOSE):
        return [Edit(start, start, f"{front}("), Edit(end, end, ")")]
    return [Edit(start, start, front)]


def require_unguarded(node: ast.AST, place: Place) -> None:
    """Refuses what is under such a guard as it is: something else is at work."""
    for outer in place.program.above(node):
        if isinstance(outer, (ast.If, ast.IfExp)) and any(
            isinstance(inner, ast.Attribute) and inner.attr.endswith("is_compiling")
            for inner in ast.walk(outer.test)
        ):
            raise Refused


def _follows(first: ast.stmt, second: ast.stmt, block: list[ast.stmt]) -> bool:
    return second in block and block.index(second) == block.index(first) + 1


def _guarded(run: list[ast.stmt], place: Place) -> list[Edit]:
    text = place.text
    if text.before(run[0]).strip():
        return _guarded_one_liner(run, place)
    for statement in run:
        behind = text.after(statement).split("#")[0]
        if text.before(statement).strip() or behind.strip():
            raise Refused  # it shares its lines with another statement
    first, last = run[0].lineno, last_line(run[-1])
    unit, at = place.program.unit(run[0]), text.starts[first - 1]
    condition = f"{text.indent(first)}if not {place.torch}.compiler.is_compiling():"
    edits = [Edit(at, at, f"{condition}{text.line_end(first)}{unit}")]
    edits += [
        Edit(text.starts[line - 1], text.starts[line - 1], unit)
        for line in range(first + 1, last + 1)
        if line not in text.inside_strings and text.line(line).strip()
    ]
    return edits


def _guarded_one_liner(run: list[ast.stmt], place: Place) -> list[Edit]:
    """``if verbose: print(x)``: the guard goes into the condition."""
    outer = place.program.parents[run[0]]
    if not isinstance(outer, ast.If) or outer.body != run or outer.orelse:
        raise Refused
    if last_line(outer.test) != run[0].lineno:
        raise Refused
    return guard_test(outer.test, place)
