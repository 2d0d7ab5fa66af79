"""Where selected elements go: through arithmetic into a sum, a mean or a count."""

import ast
from dataclasses import dataclass

from graphlens.analysis.rewrites.calls import called, root
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.masked import Selection, elementwise, selection
from graphlens.analysis.rewrites.text import Refused

_COUNTS = {"numel": "numel", "size": "count", "shape": "count", "len": "count"}


@dataclass(frozen=True)
class Reduction:
    """An expression on selected elements, and what becomes of it.

    Attributes:
        inner: The expression.
        node: The reduction.
        kind: ``sum``, ``mean``, ``count`` (how many are selected) or ``numel``.
        first: Whether it is along the first dimension only.
        leaves: The selections in it, and names that hold one.
    """

    inner: ast.expr
    node: ast.expr
    kind: str
    first: bool
    leaves: tuple[tuple[ast.expr, Selection], ...]


def reduction(node: ast.expr, evidence: Evidence) -> Reduction:
    """The reduction that selected elements end in."""
    parents = evidence.function.program.parents
    inner = node
    while True:
        outer = parents[inner]
        if isinstance(outer, ast.Attribute):
            outer = parents[outer]
        if not isinstance(outer, ast.expr) or not elementwise(outer, evidence):
            break
        inner = outer
    kind, reduced, first = _reduced(inner, evidence)
    return Reduction(inner, reduced, kind, first, tuple(leaves(inner, evidence)))


def held(node: ast.expr, evidence: Evidence) -> Selection | None:
    """The selection that an expression is, or that a name holds."""
    if isinstance(node, ast.Name):
        value = evidence.function.only_value(node.id)
        return selection(value, evidence) if value is not None else None
    return selection(node, evidence)


def leaves(node: ast.expr, evidence: Evidence) -> list[tuple[ast.expr, Selection]]:
    """What elementwise arithmetic is done on: selections and numbers, nothing else."""
    found = held(node, evidence)
    if found:
        return [(node, found)]
    if evidence.is_number(node):
        return []
    if isinstance(node, ast.BinOp):
        return leaves(node.left, evidence) + leaves(node.right, evidence)
    if isinstance(node, ast.UnaryOp):
        return leaves(node.operand, evidence)
    if isinstance(node, ast.Compare):
        return [leaf for s in [node.left, *node.comparators] for leaf in leaves(s, evidence)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts = [*node.args]
        if root(node.func) != evidence.torch:
            parts.append(node.func.value)
        return [leaf for part in parts for leaf in leaves(part, evidence)]
    raise Refused


def _reduced(inner: ast.expr, evidence: Evidence) -> tuple[str, ast.expr, bool]:
    parents = evidence.function.program.parents
    outer = parents[inner]
    if isinstance(outer, ast.Call):
        if outer.keywords or outer.args != [inner]:
            raise Refused
        if isinstance(outer.func, ast.Name) and outer.func.id == "len":
            return "count", outer, False
        if root(outer.func) == evidence.torch and called(outer) in ("sum", "mean"):
            return called(outer), outer, False
        raise Refused
    used = parents.get(outer)
    if not isinstance(outer, ast.Attribute):
        raise Refused
    if outer.attr == "shape" and isinstance(used, ast.Subscript) and _is_zero(used.slice):
        return "count", used, False
    if not isinstance(used, ast.Call) or used.func is not outer:
        raise Refused
    given = [*used.args, *(k.value for k in used.keywords if k.arg == "dim")]
    if len(given) != len(used.args) + len(used.keywords) or len(given) > 1:
        raise Refused
    first = bool(given)
    if first and not _is_zero(given[0]):
        raise Refused
    if outer.attr in ("sum", "mean"):
        return outer.attr, used, first
    if (outer.attr == "size" and first) or (outer.attr == "numel" and not first):
        return _COUNTS[outer.attr], used, False
    raise Refused


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and node.value is not False
