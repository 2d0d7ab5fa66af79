"""What a function binds its names to."""

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from graphlens.analysis.rewrites.program import FUNCTIONS, FunctionNode, Program
from graphlens.analysis.rewrites.text import Refused

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Binding:
    """One place where a name gets a value.

    Attributes:
        node: What binds it.
        value: The expression it gets; None where there is none, as in a loop.
        added: What an augmented assignment, such as ``+=``, changes it with.
    """

    node: ast.AST
    value: ast.expr | None = None
    added: ast.expr | None = None


@dataclass(frozen=True, eq=False)
class Function:
    """A function and its names."""

    program: Program
    node: FunctionNode

    @cached_property
    def parameters(self) -> dict[str, ast.arg]:
        given = self.node.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        return {argument.arg: argument for argument in named}

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        given = self.node.args
        positional = [*given.posonlyargs, *given.args]
        pairs = list(zip(reversed(positional), reversed(given.defaults), strict=False))
        pairs += [
            (argument, value)
            for argument, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
            if value is not None
        ]
        return {argument.arg: value for argument, value in pairs}

    @cached_property
    def all_bindings(self) -> dict[str, list[Binding]]:
        """Every name that is bound in the function, but for its parameters."""
        found: dict[str, list[Binding]] = {}
        for node in own_nodes(self.node):
            for name, binding in _bound_by(node, self.program):
                found.setdefault(name, []).append(binding)
        for node in ast.walk(self.node):
            if isinstance(node, ast.Nonlocal):  # an inner function may bind them
                for name in node.names:
                    found.setdefault(name, []).append(Binding(node))
        return found

    def bindings(self, name: str) -> list[Binding]:
        return self.all_bindings.get(name, [])

    def binds(self, name: str) -> bool:
        """Whether a name is the function's own, not that of a module or a global."""
        return name in self.parameters or bool(self.bindings(name))

    def uses(self, name: str) -> list[ast.Name]:
        """Where a name is read, inner functions included; refused where one binds it too."""
        for node in ast.walk(self.node):
            if node is not self.node and isinstance(node, (*FUNCTIONS, *_COMPREHENSIONS)):
                if name in _bound_inside(node):
                    raise Refused
            elif isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
                raise Refused
        return [
            node
            for node in ast.walk(self.node)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]

    def only_value(self, name: str) -> ast.expr | None:
        """The one expression a name has its value from, if it is bound just once."""
        bindings = self.bindings(name)
        if name in self.parameters or len(bindings) != 1:
            return None
        return bindings[0].value

    def unused(self, wish: str) -> str:
        """A name like the wished one that nothing in the file has."""
        taken = {node.id for node in ast.walk(self.program.tree) if isinstance(node, ast.Name)}
        taken |= {node.arg for node in ast.walk(self.program.tree) if isinstance(node, ast.arg)}
        while wish in taken:
            wish += "_"
        return wish


def own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes in it."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    waiting: deque[ast.AST] = deque(body)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _bound_by(node: ast.AST, program: Program) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, _binding(node, program)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, Binding(node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name.partition(".")[0]), Binding(node)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, Binding(node)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, Binding(node)
    elif isinstance(node, ast.Global):
        for name in node.names:
            yield name, Binding(node)


def _binding(name: ast.Name, program: Program) -> Binding:
    parent = program.parents[name]
    if isinstance(parent, ast.Assign) and name in parent.targets:
        return Binding(name, parent.value)
    if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) and parent.target is name:
        return Binding(name, parent.value)
    if isinstance(parent, ast.AugAssign):
        return Binding(name, None, parent.value)
    return Binding(name)


def _bound_inside(node: ast.AST) -> set[str]:
    arguments = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    return arguments | {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)
    }
