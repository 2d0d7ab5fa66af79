"""A list of what is not zero, of which only the length is asked."""

import ast

from graphlens.analysis.rewrites.calls import called, root
from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.flow import Flow
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.text import Refused


def count_nonzero(place: Place) -> list[Draft]:
    """``len(torch.nonzero(t))`` as ``torch.count_nonzero(t)``."""
    evidence, text, edits = place.evidence, place.text, list[Edit]()
    for node in ast.walk(place.statement):
        if not isinstance(node, ast.Call) or called(node) != "nonzero" or node.keywords:
            continue
        given = [*node.args]
        if isinstance(node.func, ast.Attribute) and root(node.func) != evidence.torch:
            given.insert(0, node.func.value)
        if len(given) != 1 or not place.covers(node):
            raise Refused
        counted = _counted(node, place)
        flow = Flow(evidence)
        flow.follow(counted)
        if flow.branches:
            raise Refused
        new = f"{place.torch}.count_nonzero({text.of(given[0])})"
        edits.append(Edit(*text.span(counted), new))
    if not edits:
        raise Refused
    title = "Count what is not zero in place of listing it"
    return [Draft(title, tuple(edits), "the number is a tensor")]


def _counted(node: ast.expr, place: Place) -> ast.expr:
    outer = place.program.parents[node]
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "len":
        return outer
    used = place.program.parents.get(outer)
    if not isinstance(outer, ast.Attribute):
        raise Refused
    first = "0"
    if outer.attr == "shape" and isinstance(used, ast.Subscript):
        first = ast.unparse(used.slice)
    elif outer.attr == "size" and isinstance(used, ast.Call) and len(used.args) == 1:
        first = ast.unparse(used.args[0])
    else:
        raise Refused
    if first != "0":
        raise Refused
    return used
