"""Expressions that may be computed more often, or not at all, without anyone noticing."""

import ast

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called
from graphlens.analysis.rewrites.text import Refused

# No other kind of expression is moved or repeated.
_PLAIN = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.Dict,
    ast.DictComp,
    ast.FormattedValue,
    ast.GeneratorExp,
    ast.IfExp,
    ast.JoinedStr,
    ast.List,
    ast.ListComp,
    ast.Name,
    ast.Set,
    ast.SetComp,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
_PARTS = (
    ast.boolop,
    ast.cmpop,
    ast.comprehension,
    ast.expr_context,
    ast.keyword,
    ast.operator,
    ast.unaryop,
)


def require_plain(*nodes: ast.expr) -> None:
    """Refuses what has an evident effect besides its value, or is not a plain expression."""
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, _PARTS):
                continue
            if not isinstance(inner, _PLAIN) or _has_effect(inner):
                raise Refused


def require_computable(*nodes: ast.expr) -> None:
    """Refuses what must not be computed where the program would not have computed it."""
    require_plain(*nodes)
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                name = called(inner)
                if name in vocabulary.RANDOM | vocabulary.CONVERSIONS or _keeps_statistics(name):
                    raise Refused
            elif isinstance(inner, ast.Subscript) and not _is_fixed(inner.slice):
                raise Refused  # it may be out of range on the side not chosen


def may_be_unbounded(*nodes: ast.expr) -> bool:
    """Whether the value, and with it the gradient, may be inf or NaN by itself."""
    return any(
        called(inner) in vocabulary.UNBOUNDED
        or (isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Div, ast.Pow)))
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.expr)
    )


def has_unknown_call(*nodes: ast.expr) -> bool:
    """Whether a call is made of which the name does not say what it does."""
    known = vocabulary.TENSOR_METHODS | vocabulary.FACTORIES
    return any(
        isinstance(inner, ast.Call) and called(inner) not in known
        for node in nodes
        for inner in ast.walk(node)
    )


def _has_effect(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = called(node)
    in_place = name.endswith("_") and not name.endswith("__")
    return (
        not name
        or in_place
        or name in vocabulary.EFFECT_FUNCTIONS | vocabulary.EFFECT_METHODS
        or any(keyword.arg in ("out", "inplace") for keyword in node.keywords)
    )


def _keeps_statistics(name: str) -> bool:
    """Batch normalisation counts what it is given, while training."""
    plain = name.lower().replace("_", "").rstrip("0123456789d")
    return plain in ("bn", "batchnorm", "instancenorm")


def _is_fixed(index: ast.expr) -> bool:
    """Whether an index is written out, so that only a shape decides whether it is in range."""
    allowed = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)
    return all(isinstance(inner, allowed) for inner in ast.walk(index))
