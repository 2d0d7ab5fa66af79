"""Prints, logs and warnings: they run only where the code is not compiled."""

import ast

from graphlens.analysis.rewrites.guard import guard, require_unguarded
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.reports import is_clock, is_report
from graphlens.analysis.rewrites.text import Refused

_WORDS = {
    "print": ("Print", "the message is not printed by compiled code"),
    "log": ("Log", "the message is not logged by compiled code"),
    "warn": ("Warn", "the warning is not given by compiled code"),
    "call": ("Call it", "compiled code does not make the call"),
    "clock": ("Read the clock", "compiled code does not measure the time"),
}


def tell(place: Place, what: str) -> list[Draft]:
    """A statement that only tells something."""
    statement = place.statement
    if not isinstance(statement, ast.Expr) or not is_report(statement.value):
        raise Refused
    require_unguarded(statement, place)
    return [_draft([statement], place, what)]


def clock(place: Place) -> list[Draft]:
    """A clock whose reading is only told, with all that hangs on it."""
    found: list[ast.stmt] = []
    waiting = [place.statement]
    while waiting:
        statement = waiting.pop()
        if statement in found:
            continue
        require_unguarded(statement, place)
        found.append(statement)
        if isinstance(statement, ast.Assign):
            waiting += _those_with(statement, place)
        elif not isinstance(statement, ast.Expr) or not is_report(statement.value):
            raise Refused
    return [_draft(found, place, "clock")]


def _those_with(statement: ast.Assign, place: Place) -> list[ast.stmt]:
    """The statements that use what one assigns, which must be the reading of a clock."""
    target, function = statement.targets[0], place.function
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        raise Refused
    if function.only_value(target.id) is not statement.value or not _is_time(statement.value):
        raise Refused
    for node in ast.walk(statement.value):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != "time":
            value = function.only_value(node.id)
            if value is None or not _is_time(value):
                raise Refused
    found = [place.program.statement(use) for use in function.uses(target.id)]
    for other in found:
        if place.program.function(other) is not function.node:
            raise Refused
    return found


def _is_time(node: ast.expr) -> bool:
    """A reading, or a difference of readings."""
    if isinstance(node, ast.BinOp):
        return _is_time(node.left) and _is_time(node.right)
    return is_clock(node) or isinstance(node, (ast.Name, ast.Constant))


def _draft(statements: list[ast.stmt], place: Place, what: str) -> Draft:
    verb, caution = _WORDS[what]
    title = f"{verb} only where the code is not compiled"
    return Draft(title, tuple(guard(statements, place)), caution)
