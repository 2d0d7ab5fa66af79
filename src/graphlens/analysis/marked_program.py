"""A generated program with marks around each call of a kernel, by which the calls are timed.

Each statement that calls a kernel, at a *site* of the program, stands between two looks at a clock:

    _graphlens_start = _graphlens_now()
    cpp_fused_gelu_0(buf0, buf1)
    _graphlens_note((3, _graphlens_start, _graphlens_now()))

The program as a whole is noted where it returns. So every call is timed, those of libraries and
operators too, and the program stays the one that the report shows: the same kernels in the same
order, compiled once. Nothing is run here.
"""

import ast
from collections.abc import Sequence
from typing import NamedTuple

from graphlens.analysis.program_calls import ProgramCalls

NOW, NOTE, BEGIN = "_graphlens_now", "_graphlens_note", "_graphlens_begin"
_START, _BEGUN, _RESULT = "_graphlens_start", "_graphlens_begun", "_graphlens_result"
WHOLE = -1
"""The site of the program as a whole."""


class MarkedFunction(NamedTuple):
    """A function of a program that calls kernels.

    Attributes:
        owner: The class that it is a method of; empty for none.
        definition: With marks.
    """

    owner: str
    definition: ast.FunctionDef


class MarkedProgram(NamedTuple):
    """A program with marks.

    Attributes:
        calls: Texts of its calls of kernels, in the order of execution.
        sites: Of each the number of its site; a function that is called twice has sites that are
            there twice.
        functions: That call kernels.
    """

    calls: tuple[str, ...]
    sites: tuple[int, ...]
    functions: tuple[MarkedFunction, ...]


def marked_program(code: str) -> MarkedProgram:
    """Puts marks into a program.

    Raises:
        SyntaxError: It is no Python; also ValueError, RecursionError and MemoryError by ``ast``.
    """
    calls = ProgramCalls(code, {}).calls
    numbers: dict[tuple[int, int], int] = {}
    sites = tuple(numbers.setdefault(call.place, len(numbers)) for call in calls)
    functions = tuple(_functions(ast.parse(code).body, "", numbers))
    return MarkedProgram(tuple(call.call for call in calls), sites, functions)


def _functions(
    statements: Sequence[ast.stmt], owner: str, numbers: dict[tuple[int, int], int]
) -> list[MarkedFunction]:
    found = []
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            found += _functions(statement.body, statement.name, numbers)
        elif isinstance(statement, ast.FunctionDef):
            entry = statement.name == "call"
            marker = _Marker(numbers, entry)
            definition = marker.visit(statement)
            if entry:
                begin = ast.Assign([ast.Name(_BEGUN, ast.Store())], _call(BEGIN))
                definition.body.insert(0, ast.copy_location(begin, definition.body[0]))
            if entry or marker.found:
                found.append(MarkedFunction(owner, ast.fix_missing_locations(definition)))
    return found


class _Marker(ast.NodeTransformer):
    """Puts marks around the statements whose calls have a number.

    Args:
        numbers: Of sites, by line and column.
        entry: Whether it is the function that torch calls: its end is noted, too.
    """

    def __init__(self, numbers: dict[tuple[int, int], int], entry: bool) -> None:
        self.numbers, self.entry = numbers, entry
        self.found = False

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return self._marked(node, node.value)

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return self._marked(node, node.value)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        if not self.entry or node.value is None:
            return [node]
        kept = ast.Assign([ast.Name(_RESULT, ast.Store())], node.value)
        made = [kept, _note(WHOLE, _BEGUN), ast.Return(_name(_RESULT))]
        return [ast.copy_location(one, node) for one in made]

    def _marked(self, statement: ast.stmt, value: ast.expr) -> list[ast.stmt]:
        site = self.numbers.get((value.lineno, value.col_offset))
        if site is None or not isinstance(value, ast.Call):
            return [statement]
        self.found = True
        start = ast.Assign([ast.Name(_START, ast.Store())], _call(NOW))
        note = _note(site, _START)
        return [ast.copy_location(start, statement), statement, ast.copy_location(note, statement)]


def _note(site: int, start: str) -> ast.stmt:
    taken = ast.Tuple([ast.Constant(site), _name(start), _call(NOW)], ast.Load())
    return ast.Expr(_call(NOTE, taken))


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_name(name), list(arguments), [])


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
