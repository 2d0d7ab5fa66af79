"""What a tensor plainly has: truth values, no dimensions, a storage of its own."""

import ast

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called, root
from graphlens.analysis.rewrites.evidence import Evidence

_DEPTH = 12
_SCALAR_KEPT = vocabulary.ELEMENTWISE | vocabulary.words("detach clone float double bool cpu")
_FRESH = (
    vocabulary.ELEMENTWISE
    | vocabulary.PAIRWISE
    | vocabulary.REDUCTIONS
    | vocabulary.words("clone clamp clip softmax log_softmax matmul mm bmm cumsum cumprod")
)
_SAME_ELEMENTS = vocabulary.words("detach float double half contiguous")
# With a dimension given, they return pairs.
_PAIRS = vocabulary.words("max min median")


def is_boolean(node: ast.expr, evidence: Evidence, depth: int = _DEPTH) -> bool:
    """Whether a tensor plainly has truth values for elements."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.Call):
        return called(node) in vocabulary.BOOLEAN
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and is_boolean(node.operand, evidence, depth)
    if isinstance(node, ast.BinOp):
        logical = isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor))
        sides = (node.left, node.right)
        return logical and all(is_boolean(side, evidence, depth) for side in sides)
    if isinstance(node, ast.Name) and depth:
        value = evidence.function.only_value(node.id)
        return value is not None and is_boolean(value, evidence, depth - 1)
    return False


def is_scalar(node: ast.expr, evidence: Evidence, depth: int = _DEPTH) -> bool:
    """Whether it is plainly a number or a tensor without dimensions."""
    if evidence.is_number(node):
        return True
    if isinstance(node, ast.Call):
        return _scalar_call(node, evidence, depth)
    if isinstance(node, ast.Name):
        value = evidence.function.only_value(node.id) if depth else None
        return value is not None and is_scalar(value, evidence, depth - 1)
    sides: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        sides = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        sides = [node.operand]
    elif isinstance(node, ast.BoolOp):
        sides = node.values
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    return bool(sides) and all(is_scalar(side, evidence, depth) for side in sides)


def is_fresh(node: ast.expr, evidence: Evidence) -> bool:
    """Whether its value is plainly a new one, which no other name can mean."""
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.USub, ast.Invert))
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if any(keyword.arg in ("out", "inplace", None) for keyword in node.keywords):
        return False
    name = called(node)
    if name in _PAIRS:
        return not node.args and not node.keywords
    if name in vocabulary.FACTORIES:
        return root(node.func) == evidence.torch
    if name in _SAME_ELEMENTS and not node.args:
        return is_fresh(node.func.value, evidence)
    return name in _FRESH or evidence.module(node) in vocabulary.FRESH_MODULES


def _scalar_call(node: ast.Call, evidence: Evidence, depth: int) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.keywords:
        return False
    arguments = list(node.args)
    receiver: ast.expr = node.func.value
    if root(node.func) == evidence.torch:
        if len(arguments) != 1:
            return False
        receiver = arguments.pop()
    if arguments:
        return False
    name = node.func.attr
    if name in vocabulary.REDUCTIONS:
        return True
    return name in _SCALAR_KEPT and is_scalar(receiver, evidence, depth)
