"""What of a line broke the graph: the expression, and the libraries it calls."""

import ast

from graphlens.analysis.causes import called_name
from graphlens.analysis.source_code import SourceFile, SourceFiles
from graphlens.model import GraphBreak

_OWN = frozenset({"torch", "typing", "builtins"})
_CALLS = {
    "print_call": ("print",),
    "logging_call": ("debug", "info", "warning", "error", "exception", "critical", "log"),
    "warnings_call": ("warn",),
    "tensor_to_python_number": ("item", "tolist", "float", "int", "bool", "numpy"),
    "data_dependent_output_shape": ("nonzero", "unique", "masked_select", "argwhere", "bincount"),
    "backward_call": ("backward",),
    "autograd_inside": ("grad",),
    "autograd_function": ("apply",),
    "explicit_graph_break": ("graph_break",),
}


def libraries_called(found: GraphBreak, files: SourceFiles) -> frozenset[str]:
    """Modules, other than torch, whose functions the line calls."""
    statement = files.file(found.file).statement(found.line)
    if statement is None:
        return frozenset()
    imported = files.imported(found.file)
    called = {
        name
        for node in _nodes_of_head(statement)
        if isinstance(node, ast.Call) and (name := _root(node.func))
    }
    return frozenset(imported[name] for name in called if name in imported) - _OWN


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _nodes_of_head(statement: ast.stmt) -> list[ast.AST]:
    """Nodes of a statement; of a block only those of its head."""
    bodies = {id(child) for name in ("body", "orelse", "finalbody", "handlers")
              for child in getattr(statement, name, ()) if isinstance(child, ast.AST)}  # fmt: skip
    waiting: list[ast.AST] = [statement]
    found = []
    while waiting:
        node = waiting.pop(0)
        found.append(node)
        waiting += [child for child in ast.iter_child_nodes(node) if id(child) not in bodies]
    return found


def find_trigger(
    found: GraphBreak, cause: str, source: SourceFile
) -> tuple[str, tuple[int, int] | None]:
    """The expression that broke, as it stands in the line, and where in the line.

    The call that is typical of the cause is looked for first, since what torch marks can be a
    larger part of the line; then what torch marks counts, then the whole line.
    """
    statement = source.statement(found.line)
    node = _expression(statement, cause, called_name(found)) if statement else None
    if node is not None and node.lineno == found.line:
        caret = _columns(node, source.lines[found.line - 1], len(found.code))
        return found.code[caret[0] : caret[1]], caret
    if found.caret is not None:
        first, last = found.caret
        while last > first + 1 and not _is_expression(found.code[first:last]):
            last -= 1
        if _is_expression(found.code[first:last]):
            return found.code[first:last], (first, last)
    return found.code, None


def _columns(node: ast.expr, line: str, width: int) -> tuple[int, int]:
    """Where an expression stands in its line without indentation; its first line, of several."""
    indent = len(line) - len(line.lstrip())
    # Columns of the tree count bytes of UTF-8.
    first = len(line.encode()[: node.col_offset].decode(errors="ignore")) - indent
    if node.end_lineno != node.lineno:
        return first, width
    return first, len(line.encode()[: node.end_col_offset].decode(errors="ignore")) - indent


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _expression(statement: ast.stmt, cause: str, called: str) -> ast.expr | None:
    nodes = _nodes_of_head(statement)
    if cause == "data_dependent_branch":
        tests = [getattr(node, "test", None) for node in nodes]
        return next((test for test in tests if isinstance(test, ast.expr)), None)
    names = _CALLS.get(cause, (called.rpartition(".")[2],) if called else ())
    for node in nodes:
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else _root(function)
            if name in names:
                return node
    return None
