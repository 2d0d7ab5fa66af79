"""The place on a line where the truth of a tensor is asked for, and what can be done there."""

import ast

from graphlens.analysis.rewrites.branch import choose
from graphlens.analysis.rewrites.calls import called
from graphlens.analysis.rewrites.checks import check, check_assertion
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.text import Refused

_Asks = ast.If | ast.IfExp | ast.Assert
_CONVERSIONS = {"item", "float", "int", "bool"}
_ASKS = (ast.If, ast.IfExp, ast.Assert)


def decide(place: Place) -> list[Draft]:
    """A branch, a conditional expression, an assertion, or a check that raises."""
    node = _asking(place)
    here = place.of(node)
    if isinstance(node, ast.Assert):
        return check_assertion(node, here)
    if isinstance(node, ast.If) and _only_checks(node):
        return check(node, here)
    return choose(node, here)


def decide_converted(place: Place) -> list[Draft]:
    """The same, where a tensor is made a number to decide by it."""
    test = _asking(place).test
    names = [called(node) for node in ast.walk(test) if isinstance(node, ast.Call)]
    if not set(names) & _CONVERSIONS:
        raise Refused
    return decide(place)


def _asking(place: Place) -> _Asks:
    """The one that asks on the line; refused where several do."""
    found = [
        node
        for node in ast.walk(place.function.node)
        if isinstance(node, _ASKS) and place.covers(node.test)
    ]
    if not found:  # the line may be another one of the same statement
        found = [
            node
            for node in ast.walk(place.statement)
            if isinstance(node, (ast.IfExp, ast.Assert)) and place.covers(node)
        ]
    if len(found) != 1:
        raise Refused
    return found[0]


def _only_checks(branch: ast.If) -> bool:
    return all(isinstance(statement, (ast.Raise, ast.Expr)) for statement in branch.body)
