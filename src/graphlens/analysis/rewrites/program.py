"""A parsed file: what stands around a node."""

import ast
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

from graphlens.analysis.rewrites.text import Refused, Text, last_line

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, eq=False)
class Program:
    """A file's text and its syntax tree, to look at around one line."""

    text: Text
    tree: ast.Module
    line: int

    @cached_property
    def tops(self) -> list[ast.stmt]:
        """The statements of the module that the line is part of; mostly one."""
        return _on(self.line, self.tree.body)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Of what is in the outermost statement on the line: a file may have thousands more."""
        found: dict[ast.AST, ast.AST] = {}
        for top in self.tops:
            found[top] = self.tree
            for node in ast.walk(top):
                found.update(dict.fromkeys(ast.iter_child_nodes(node), node))
        return found

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is in, the innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function(self, node: ast.AST) -> FunctionNode:
        """The innermost function a node is in: only functions are compiled."""
        for outer in self.above(node):
            if isinstance(outer, FUNCTIONS):
                return outer
        raise Refused

    def owner(self, function: FunctionNode) -> ast.ClassDef | None:
        """The class whose method a function is."""
        outer = self.parents[function]
        return outer if isinstance(outer, ast.ClassDef) else None

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement a node is in, or that it is."""
        for outer in (node, *self.above(node)):
            if isinstance(outer, ast.stmt):
                return outer
        raise Refused

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which one stands."""
        parent = self.parents[statement]
        for name in _BLOCKS:
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        raise Refused

    def innermost(self) -> ast.stmt:
        """The innermost statement that the line is part of; the last one of several."""
        found: list[ast.stmt] = []
        inside = self.tops
        while inside:
            found.append(inside[-1])
            inside = _on(self.line, list(_statements(inside[-1])))
        if not found:
            raise Refused
        return found[-1]

    def unit(self, statement: ast.stmt) -> str:
        """What one level of indentation is around a statement."""
        own = self.text.indent(statement.lineno)
        for outer in self.above(statement):
            if isinstance(outer, ast.stmt):
                less = self.text.indent(outer.lineno)
                if own != less and own.startswith(less):
                    return own[len(less) :]
        return "    "


def _on(line: int, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Of statements one after another those that a line is part of."""
    first = bisect_left(statements, line, key=last_line)
    return list(takewhile(lambda node: node.lineno <= line, statements[first:]))


def _statements(outer: ast.AST) -> Iterator[ast.stmt]:
    """The statements right in another one; a handler or a case in between is none."""
    for child in ast.iter_child_nodes(outer):
        if isinstance(child, ast.stmt):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _statements(child)


def parse(source: str) -> ast.Module:
    """The tree of a source; refused where it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's code, such as a bad escape
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused from error


# Breaks of one file come one after another.
parse_again = lru_cache(maxsize=1)(parse)
