"""Numbers read from tensors for arithmetic: the tensor will do."""

import ast

from graphlens.analysis.rewrites.branch import choose
from graphlens.analysis.rewrites.conversion import converted, cut_off, keep_tensor
from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.flow import Branch, Flow
from graphlens.analysis.rewrites.learning import learn
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.text import Refused

_TITLE = "Keep the number as a tensor"


def keep_numbers(place: Place) -> list[Draft]:
    """All conversions on the line, where each may stay a tensor wherever it goes."""
    calls = [
        node
        for node in ast.walk(place.statement)
        if isinstance(node, ast.Call)
        and place.covers(node)
        and converted(node, place.evidence) is not None
    ]
    flow = Flow(place.evidence)
    for call in calls:
        _require_here(call, place)
        flow.follow(call)
    if not calls or len(flow.branches) > 1:
        raise Refused
    edits: list[Edit] = []
    for call in calls:
        if not any(_is_in(call, branch.test, place) for branch in flow.branches):
            named = isinstance(place.program.parents[call], ast.Assign)
            edits += keep_tensor(call, place.evidence, cut_off(call, place.evidence, named))
    if not flow.branches:
        return [Draft(_TITLE, tuple(edits), _caution(flow))]
    return _with_branch(flow.branches[0], edits, flow, place)


def _with_branch(branch: Branch, edits: list[Edit], flow: Flow, place: Place) -> list[Draft]:
    """The number decides a branch: that must go as well."""
    known = learn(place.function, place.torch, frozenset(flow.kept))
    inner = Place(place.program, place.statement, place.function, known, place.imports)
    return [
        Draft(
            f"{draft.title}, with the number kept as a tensor" if edits else draft.title,
            (*edits, *draft.edits),
            "; ".join(filter(None, [draft.caution, _caution(flow) if edits else ""])),
        )
        for draft in choose(branch, inner)
    ]


def _require_here(call: ast.Call, place: Place) -> None:
    """In the function's own code, and not in a string that is put together."""
    above = list(place.program.above(call))
    if place.program.function(call) is not place.function.node:
        raise Refused
    if any(isinstance(node, ast.JoinedStr) for node in above):
        raise Refused


def _is_in(node: ast.AST, outer: ast.AST, place: Place) -> bool:
    return node is outer or outer in place.program.above(node)


def _caution(flow: Flow) -> str:
    caution = "arithmetic with it follows the tensor's dtype and device"
    return f"{caution}; a division by zero does not raise" if flow.divides else caution
