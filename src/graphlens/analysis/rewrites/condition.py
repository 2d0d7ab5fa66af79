"""The condition of a branch as a tensor of truth values."""

import ast

from graphlens.analysis.rewrites.calls import called
from graphlens.analysis.rewrites.conversion import (
    ATOMS,
    conversion_edits,
    without_conversions,
)
from graphlens.analysis.rewrites.edits import apply
from graphlens.analysis.rewrites.effects import require_computable
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.forms import is_boolean
from graphlens.analysis.rewrites.text import Refused
from graphlens.analysis.rewrites.vocabulary import words

# They give a truth value of Python, and stop the compiler themselves.
_PYTHON_TRUTHS = words("equal allclose is_nonzero isinstance hasattr callable len is_tensor")
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def as_condition(node: ast.expr, evidence: Evidence, sure: bool = True) -> str:
    """What to give torch.where in place of asking for the truth of a value.

    Args:
        node: The condition as it is.
        evidence: What is known in the function.
        sure: Whether it is known to be a tensor, as torch says; else it must plainly be one.
            In a combination each part must, for None or a number may decide as well.
    """
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"{evidence.torch}.logical_not({as_condition(node.operand, evidence, sure)})"
    if isinstance(node, ast.BoolOp):
        function = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return _joined(
            function, [as_condition(value, evidence, False) for value in node.values], evidence
        )
    asked = _truth_asked_of(node)
    if asked is not None:
        return as_condition(asked, evidence, sure)
    plain = without_conversions(node, evidence)
    require_computable(plain)
    if not sure and not _is_tensor(plain, evidence):
        raise Refused
    if isinstance(node, ast.Compare):
        return _comparison(node, evidence)
    if isinstance(node, (ast.IfExp, ast.Constant)) or called(node) in _PYTHON_TRUTHS:
        raise Refused
    if evidence.is_number(plain):
        raise Refused
    text = _text(node, evidence)
    if is_boolean(node, evidence):
        return text
    return f"{text} != 0" if isinstance(node, ATOMS) else f"({text}) != 0"


def _comparison(node: ast.Compare, evidence: Evidence) -> str:
    sides = [node.left, *node.comparators]
    if any(type(operator) not in _SIGNS for operator in node.ops):
        raise Refused
    if any(map(evidence.is_neither, sides)):
        raise Refused
    if all(evidence.is_number(without_conversions(side, evidence)) for side in sides):
        raise Refused
    if len(node.ops) == 1:
        return _text(node, evidence)
    parts: list[str] = []  # 0 < t < 1 asks for the truth of its first half
    for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
        if isinstance(left, (ast.Compare, ast.IfExp)) or isinstance(
            right, (ast.Compare, ast.IfExp)
        ):
            raise Refused
        if not _is_tensor(
            without_conversions(ast.Compare(left, [operator], [right]), evidence), evidence
        ):
            raise Refused
        parts.append(f"{_text(left, evidence)} {_SIGNS[type(operator)]} {_text(right, evidence)}")
    return _joined("logical_and", parts, evidence)


def _joined(function: str, parts: list[str], evidence: Evidence) -> str:
    text = parts[0]
    for part in parts[1:]:
        text = f"{evidence.torch}.{function}({text}, {part})"
    return text


def _text(node: ast.expr, evidence: Evidence) -> str:
    text = evidence.function.program.text
    return apply(text.source, conversion_edits(node, evidence), text.span(node))


def _is_tensor(node: ast.expr, evidence: Evidence) -> bool:
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return True  # each half is looked at on its own
    return evidence.is_tensor(node)


def _truth_asked_of(node: ast.expr) -> ast.expr | None:
    """The value that ``bool(...)`` is asked of."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1:
        return None
    plain = isinstance(node.func, ast.Name) and node.func.id == "bool"
    return node.args[0] if plain else None
