"""The name under which a function reaches torch, or the import that gives it one."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.names import Function
from graphlens.analysis.rewrites.program import Program
from graphlens.analysis.rewrites.text import Refused, last_line


@dataclass(frozen=True)
class TorchName:
    """How to write torch, and what to add to the file for it."""

    name: str
    added: Edit | None = None


def torch_name(program: Program, function: Function) -> TorchName:
    """The file's own name for torch, such as ``th``, else ``torch`` with an import.

    Refused where the name means something else in the function.
    """
    for name in _inside(function, program.line):
        return TorchName(name)
    for name in _imported_by(program.tree):
        if _bound_elsewhere(program, function, name):
            raise Refused
        return TorchName(name)
    if _anywhere(program.tree, "torch") or _bound_elsewhere(program, function, "torch"):
        raise Refused
    return TorchName("torch", _import(program))


def _inside(function: Function, line: int) -> list[str]:
    """Names from imports in the function itself that run before the line."""
    if isinstance(function.node, ast.Lambda):
        return []
    before = [node for node in function.node.body if last_line(node) < line]
    return [name for name in _imported(before) if len(function.bindings(name)) == 1]


# Breaks of one file come one after another.
@lru_cache(maxsize=1)
def _imported_by(tree: ast.Module) -> tuple[str, ...]:
    return tuple(_imported(tree.body))


def _imported(body: list[ast.stmt]) -> list[str]:
    names: list[str] = []
    for node in body:
        if isinstance(node, ast.Try):
            names += _imported(node.body)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
                    names.append(alias.asname or "torch")
    return names


def _bound_elsewhere(program: Program, function: Function, name: str) -> bool:
    around = [
        Function(program, node)
        for node in program.above(function.node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    ]
    return any(
        name in scope.parameters or scope.bindings(name) or name in _catch_all(scope)
        for scope in [function, *around]
    )


def _catch_all(function: Function) -> set[str]:
    given = function.node.args
    return {argument.arg for argument in (given.vararg, given.kwarg) if argument}


@lru_cache(maxsize=1)
def _anywhere(tree: ast.Module, name: str) -> bool:
    """Whether the module binds a name in some other way than by importing torch."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                return True
        elif isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*"):
            return True
    return False


def _import(program: Program) -> Edit:
    """``import torch`` after the imports at the head of the file."""
    body, text = program.tree.body, program.text
    head = 1 if body and _is_docstring(body[0]) else 0
    after = head
    while after < len(body) and isinstance(body[after], (ast.Import, ast.ImportFrom)):
        after += 1
    if after == 0:
        return _above_all(program)
    last = body[after - 1]
    if text.after(last).split("#")[0].strip() or not text.line(last_line(last)).endswith("\n"):
        raise Refused
    end = text.line_end(last_line(last))
    at = text.starts[last_line(last)]
    return Edit(at, at, (end if after == head else "") + "import torch" + end)


def _above_all(program: Program) -> Edit:
    """In front of the first statement, its comments left above: one may be the interpreter."""
    first = program.tree.body[0]
    decorators = getattr(first, "decorator_list", [])
    line = min([first.lineno, *(node.lineno for node in decorators)])
    end = program.text.line_end(line)
    at = program.text.starts[line - 1]
    return Edit(at, at, f"import torch{end}{end}{end}")


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
