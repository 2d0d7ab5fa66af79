"""A parsed file: what stands around a node."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from graphlens.analysis.rewrites.text import Refused, Text, last_line

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, eq=False)
class Program:
    """A file's text and its syntax tree."""

    text: Text
    tree: ast.Module

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

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

    def innermost(self, line: int) -> ast.stmt:
        """The innermost statement that a line is part of."""
        holding = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and node.lineno <= line <= last_line(node)
        ]
        if not holding:
            raise Refused
        # Breadth first: of those on a line, the deepest comes last.
        return holding[-1]

    def unit(self, statement: ast.stmt) -> str:
        """What one level of indentation is around a statement."""
        own = self.text.indent(statement.lineno)
        for outer in self.above(statement):
            if isinstance(outer, ast.stmt):
                less = self.text.indent(outer.lineno)
                if own != less and own.startswith(less):
                    return own[len(less) :]
        return "    "


def parse(source: str) -> ast.Module:
    """The tree of a source; refused where it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's code, such as a bad escape
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused from error
