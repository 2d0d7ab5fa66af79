"""The ``except`` of a program that would take an error."""

import ast
import linecache
from collections.abc import Iterator


def handler_of(file: str, line: int, error: BaseException) -> int | None:
    """The line of the innermost handler around a line that takes an error; None without one.

    Handlers are known by their classes' names.

    Args:
        file: Where the error was raised.
        line: Where the error was raised.
        error: Raised there.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    names = {kind.__name__ for kind in type(error).__mro__}
    for around in reversed(list(_tries(tree, line))):
        for handler in around.handlers:
            if handler.type is None or names & set(_classes(handler.type)):
                return handler.lineno
    return None


def _tries(tree: ast.AST, line: int) -> Iterator[ast.Try]:
    """Those with the line in their body, the outermost first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            last = node.body[-1].end_lineno or node.body[-1].lineno
            if node.body[0].lineno <= line <= last:
                yield node


def _classes(kind: ast.expr) -> Iterator[str]:
    for one in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
        if isinstance(one, (ast.Name, ast.Attribute)):
            yield one.id if isinstance(one, ast.Name) else one.attr
