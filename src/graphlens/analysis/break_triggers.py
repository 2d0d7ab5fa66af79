"""What of a line broke the graph: the expression, and the libraries it calls."""

import ast
import unicodedata
from bisect import bisect_left, bisect_right
from itertools import accumulate

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
    statements = files.file(found.file).statements(found.line)
    imported = files.imported(found.file)
    called = {
        name
        for statement in statements
        for node in nodes_of_head(statement)
        if isinstance(node, ast.Call) and (name := _root(node.func))
    }
    return frozenset(imported[name].partition(".")[0] for name in imported.keys() & called) - _OWN


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def nodes_of_head(statement: ast.stmt) -> list[ast.AST]:
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
    found: GraphBreak, cause: str, source: SourceFile, call: ast.Call | None = None
) -> tuple[str, tuple[int, int] | None]:
    """What broke, as it stands in the line, and where in the line; None where it has no place.

    The call that is typical of the cause is looked for first, since what torch marks can be a
    larger part of the line; then what torch marks counts, then the whole line.

    Args:
        found: Without it.
        cause: Its class of cause.
        source: The user's file.
        call: The call of the line that the break is in, where that is known already.
    """
    marked = _marked(found)
    statements = source.statements(found.line)
    nodes: list[ast.expr] = [call] if call is not None else []
    for one in statements if call is None else ():
        nodes += _typical(one, cause, called_name(found))
    if nodes:
        node = next((one for one in nodes if _meets(source, one, found.line, marked)), nodes[0])
        caret = _caret(source, node, found)
        if caret is not None and node.lineno == node.end_lineno:
            return found.code[caret[0] : caret[1]], caret
        if caret is not None or cause == "data_dependent_branch":
            return ast.unparse(node), caret
    if marked is not None and _is_expression(marked[0]):
        return marked
    raised = next((one for one in statements if isinstance(one, ast.Raise)), None)
    if cause == "user_exception" and raised is not None:
        return ast.unparse(raised) if marked is None else marked[0], None
    return marked[0] if marked is not None else found.code, None


def _marked(found: GraphBreak) -> tuple[str, tuple[int, int]] | None:
    """What torch marks of the line; None where that is no whole expression or statement.

    Marks can reach over the colon or bracket that follows.
    """
    if found.caret is None:
        return None
    # Tracebacks count a wide character as two columns, those of early Python 3.11 as one.
    for first, last in (_unwidened(found.code, found.caret), found.caret):
        for end in (last, last - 1, last - 2):
            text = found.code[first:end]
            parses = _is_expression(text) or _is_statement(text)
            if parses and not _in_word(found.code, first) and not _in_word(found.code, end):
                return text, (first, end)
    return None


def _unwidened(code: str, marks: tuple[int, int]) -> tuple[int, int]:
    """Marks of a display as characters of the line."""
    widths = [2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in code]
    columns = [0, *accumulate(widths)]
    first, last = (min(mark, columns[-1]) for mark in marks)
    return bisect_right(columns, first) - 1, bisect_left(columns, last)


def _in_word(code: str, at: int) -> bool:
    return f"_{code[at - 1 : at + 1]}".isidentifier() if 0 < at < len(code) else False


def meets_marks(source: SourceFile, node: ast.expr, found: GraphBreak) -> bool:
    """Whether torch marks some of an expression."""
    return _meets(source, node, found.line, _marked(found))


def _meets(
    source: SourceFile, node: ast.expr, line: int, marked: tuple[str, tuple[int, int]] | None
) -> bool:
    """Whether torch marks some of an expression."""
    columns = source.columns(node, line)
    if columns is None or marked is None:
        return False
    text = source.lines[line - 1]
    indent = len(text) - len(text.lstrip())
    first, last = marked[1]
    return columns[0] < last + indent and first + indent < columns[1]


def _caret(source: SourceFile, node: ast.expr, found: GraphBreak) -> tuple[int, int] | None:
    """Where an expression stands in its line without indentation; its first line, of several."""
    columns = source.columns(node, found.line)
    text = source.lines[found.line - 1]
    if columns is None or node.lineno != found.line or not found.code.strip():
        return None
    indent = len(text) - len(text.lstrip())
    return columns[0] - indent, min(columns[1] - indent, len(found.code))


def _is_expression(text: str) -> bool:
    return _parses(text, "eval")


def _is_statement(text: str) -> bool:
    return bool(text.strip()) and _parses(text, "exec")


def _parses(text: str, mode: str) -> bool:
    try:
        compile(text.strip(), "<line>", mode, ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError):
        return False
    return True


def _typical(statement: ast.stmt, cause: str, called: str) -> list[ast.expr]:
    """Expressions of a statement that are typical of a cause, the outermost first."""
    nodes = nodes_of_head(statement)
    if cause == "data_dependent_branch":
        return [test for node in nodes for test in _tests(node)]
    names = _CALLS.get(cause, (called.rpartition(".")[2],) if called else ())
    return [node for node in nodes if isinstance(node, ast.Call) and _name(node.func) in names]


def _tests(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.comprehension):
        return node.ifs
    test = getattr(node, "test", None)
    return [test] if isinstance(test, ast.expr) else []


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else _root(function)
