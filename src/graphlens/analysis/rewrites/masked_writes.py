"""Writes to selected elements whose value is read from selected elements."""

import ast

from graphlens.analysis.rewrites.arms import SIGNS
from graphlens.analysis.rewrites.edits import Edit, apply
from graphlens.analysis.rewrites.masked import Selection, selection
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.reductions import leaves
from graphlens.analysis.rewrites.sharing import is_own
from graphlens.analysis.rewrites.text import Refused

_TITLE = "Choose with torch.where in place of writing to a selection"


def assign_masked(place: Place) -> list[Draft]:
    """``x[mask] += 1`` and ``x[mask] = y[mask] * 2``, where ``x`` is the function's own."""
    statement = place.statement
    target: ast.expr
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        raise Refused
    written = _read(target, place)
    array = written.array
    if not isinstance(array, ast.Name) or not is_own(array.id, place.evidence):
        raise Refused
    value = _value(statement, written, place)
    if isinstance(statement, ast.AugAssign):
        if type(statement.op) not in SIGNS:
            raise Refused
        if not isinstance(statement.value, (ast.Constant, ast.Name, ast.Call, ast.Subscript)):
            value = f"({value})"
        value = f"{array.id} {SIGNS[type(statement.op)]} {value}"
    mask = place.text.of(written.mask)
    new = f"{array.id} = {place.torch}.where({mask}, {value}, {array.id})"
    return [Draft(_TITLE, (Edit(*place.text.span(statement), new),), _caution(written))]


def _read(target: ast.expr, place: Place) -> Selection:
    if not isinstance(target, ast.Subscript):
        raise Refused
    found = selection(ast.Subscript(target.value, target.slice, ast.Load()), place.evidence)
    if found is None:
        raise Refused
    return found


def _value(statement: ast.Assign | ast.AugAssign, written: Selection, place: Place) -> str:
    """The value for all elements: that of selected ones, read without the mask."""
    text, edits = place.text, list[Edit]()
    for leaf, selected in leaves(statement.value, place.evidence):
        if leaf is not selected.node or ast.dump(selected.mask) != ast.dump(written.mask):
            raise Refused
        edits.append(Edit(*text.span(leaf), text.of(selected.array)))
    return apply(text.source, edits, text.span(statement.value))


def _caution(written: Selection) -> str:
    caution = "the name gets a new tensor, of the common dtype"
    if written.kind != "same":
        caution += "; right only where the mask has the shape of what it selects from"
    return caution
