"""Where a rewrite is wanted, and what a rule answers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.learning import learn
from graphlens.analysis.rewrites.names import Function
from graphlens.analysis.rewrites.program import Program
from graphlens.analysis.rewrites.text import Text, last_line
from graphlens.analysis.rewrites.torch_name import torch_name


@dataclass(frozen=True)
class Draft:
    """A rewrite as edits.

    Attributes:
        title: One line, imperative.
        edits: What changes.
        caution: What else changes by it.
    """

    title: str
    edits: tuple[Edit, ...]
    caution: str = ""


@dataclass(frozen=True)
class Place:
    """A line in a function.

    Attributes:
        program: The file.
        statement: The innermost statement that the line is part of.
        function: The function it is in.
        evidence: What is known there.
        imports: The import to add to the file, if it has no name for torch.
    """

    program: Program
    statement: ast.stmt
    function: Function
    evidence: Evidence
    imports: tuple[Edit, ...]

    @property
    def text(self) -> Text:
        return self.program.text

    @property
    def torch(self) -> str:
        return self.evidence.torch

    def covers(self, node: ast.expr | ast.stmt) -> bool:
        """Whether the line is part of a node."""
        return node.lineno <= self.program.line <= last_line(node)

    def of(self, node: ast.AST) -> Place:
        """The same line, in the innermost function around a node."""
        return at(self.program, node)


def at(program: Program, node: ast.AST) -> Place:
    """The place of a node on the program's line."""
    function = Function(program, program.function(node))
    torch = torch_name(program, function)
    imports = (torch.added,) if torch.added else ()
    evidence = learn(function, torch.name)
    return Place(program, program.statement(node), function, evidence, imports)
