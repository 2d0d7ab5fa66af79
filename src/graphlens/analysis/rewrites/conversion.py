"""Conversions of a tensor to a number of Python, and how to leave them out."""

import ast
import re

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called
from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.forms import is_boolean, is_fresh, is_scalar
from graphlens.analysis.rewrites.text import Refused

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def converted(node: ast.expr, evidence: Evidence) -> ast.expr | None:
    """The tensor that ``t.item()``, ``float(t)`` or ``int(t)`` makes a number of."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == "item" and not node.args else None
    if called(node) in ("float", "int") and len(node.args) == 1:
        return node.args[0] if evidence.is_tensor(node.args[0]) else None
    return None


def without_conversions(node: ast.expr, evidence: Evidence) -> ast.expr:
    """The same arithmetic, on tensors; only to look at: its nodes are not those of the file."""
    inner = converted(node, evidence)
    if inner is not None:
        return inner
    if isinstance(node, ast.BinOp):
        left, right = (without_conversions(side, evidence) for side in (node.left, node.right))
        return ast.BinOp(left, node.op, right)
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, without_conversions(node.operand, evidence))
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(node.op, [without_conversions(v, evidence) for v in node.values])
    if isinstance(node, ast.Compare):
        left, *others = (without_conversions(v, evidence) for v in [node.left, *node.comparators])
        return ast.Compare(left, node.ops, others)
    return node


def conversion_edits(node: ast.expr, evidence: Evidence) -> list[Edit]:
    """What takes the conversions out of a condition; there no gradient is lost."""
    if isinstance(node, ast.Call):
        return keep_tensor(node, evidence, "") if converted(node, evidence) is not None else []
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    return [edit for part in parts for edit in conversion_edits(part, evidence)]


def cut_off(node: ast.Call, evidence: Evidence, named: bool) -> str:
    """What a number had and the tensor must get: no gradient, and a value that stays.

    Args:
        node: The conversion.
        evidence: What is known in the function.
        named: Whether a name keeps the value, while the tensor may be written to.
    """
    inner = converted(node, evidence)
    if inner is None:
        raise Refused
    calls = [called(part) for part in ast.walk(inner) if isinstance(part, ast.Call)]
    last = called(inner)
    without = last in vocabulary.BOOLEAN | vocabulary.WHOLE or "detach" in calls
    copied = ".clone()" if named and not is_fresh(inner, evidence) else ""
    return ("" if without or is_whole(inner, evidence) else ".detach()") + copied


def keep_tensor(node: ast.Call, evidence: Evidence, extra: str) -> list[Edit]:
    """Edits that leave a conversion out, and put calls such as ``.detach()`` in its place."""
    text = evidence.function.program.text
    inner = converted(node, evidence)
    if inner is None:
        raise Refused
    if not is_scalar(inner, evidence):
        extra += ".reshape(())"  # as strict as item() is: one element, no dimensions
    start, end = text.span(inner)
    front, back = text.source[text.start(node) : start], text.source[end : text.end(node)]
    if isinstance(node.func, ast.Attribute):
        closing = re.fullmatch(r"([\s)]*)\.\s*item\s*\(\s*\)", back)
        if not closing:
            raise Refused
        return [Edit(end + len(closing[1].rstrip()), text.end(node), extra)]
    whole = is_whole(inner, evidence)
    if called(node) == "int" and not whole:
        raise Refused  # it cuts off what is behind the point
    if called(node) == "float" and whole:
        extra += ".float()"
    if not re.fullmatch(r"\w+\s*\(\s*", front) or not re.fullmatch(r"\s*\)", back):
        raise Refused
    if isinstance(inner, ATOMS):
        return [Edit(text.start(node), start, ""), Edit(end, text.end(node), extra)]
    opening = text.start(node) + front.index("(")
    return [Edit(text.start(node), opening, ""), Edit(text.end(node), text.end(node), extra)]


def is_whole(node: ast.expr, evidence: Evidence) -> bool:
    """Whether a tensor plainly has whole numbers for elements."""
    if not isinstance(node, ast.Call):
        return False
    if called(node) in vocabulary.WHOLE:
        return True
    summed = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if node.args:
        summed = node.args[0]
    return called(node) == "sum" and is_boolean(summed, evidence)
