"""Names for values that come out of a graph break.

What follows a break is a function of Dynamo's own, in which the result of the call that broke is
``___stack0`` (torch 2.11 to 2.14): a guard on it means a value that the user gave another name.
"""

import ast
import re
from collections.abc import Iterable, Mapping

from graphlens.model import GraphBreak, SourceLocation

RESUMED = re.compile(r"^torch_dynamo_resume_in_(?P<function>.*)_at_(?P<line>\d+)$")


def resumed_function(name: str) -> str:
    """The user's function, also of what follows a break in it."""
    match = RESUMED.match(name)
    return match["function"] if match else name


def crossed_values(start: SourceLocation, breaks: Iterable[GraphBreak]) -> Mapping[str, str]:
    """What ``___stack0`` of a resumed function is, in the user's terms.

    Args:
        start: Where the resumed function begins.
        breaks: Of the run.
    """
    match = RESUMED.match(start.function)
    if match is None:
        return {}
    line = int(match["line"])
    for found in breaks:
        if (found.file, found.line) == (start.file, line):
            return {"___stack0": result_of(found.code, line)}
    return {"___stack0": result_of("", line)}


def result_of(code: str, line: int) -> str:
    """What a statement that broke gave, such as ```top` out of the graph break on line 18``."""
    where = f"out of the graph break on line {line}"
    name = assigned_name(code)
    if name:
        return f"`{name}` {where}"
    return f"what `{code}` gave {where}" if code else f"the value {where}"


def assigned_name(code: str) -> str:
    """The name that a statement's value is assigned to; empty where there is none."""
    try:
        statement = ast.parse(code).body[0]
    except (SyntaxError, IndexError, ValueError):
        return ""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        simple = isinstance(statement.value, (ast.Call, ast.Subscript, ast.Attribute))
        if simple and isinstance(target, (ast.Name, ast.Attribute)):
            return ast.unparse(target)
    return ""
