"""Elements selected by a mask: what is known of them before they are reduced."""

import ast
from dataclasses import dataclass

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called, root
from graphlens.analysis.rewrites.effects import require_computable
from graphlens.analysis.rewrites.evidence import IDENTITY, Evidence
from graphlens.analysis.rewrites.forms import is_boolean, is_scalar
from graphlens.analysis.rewrites.text import Refused

_ALONE = vocabulary.ELEMENTWISE | vocabulary.words("float double half detach")


@dataclass(frozen=True)
class Selection:
    """``array[mask]``.

    Attributes:
        node: The whole expression.
        array: What elements are selected of.
        mask: The mask.
        kind: ``same``: the mask plainly has the array's shape; ``rows``: it plainly lacks the
            last dimension; ``unknown``.
    """

    node: ast.expr
    array: ast.expr
    mask: ast.expr
    kind: str


def selection(node: ast.expr, evidence: Evidence) -> Selection | None:
    """Reads a selection by a plain comparison, or a name that holds one."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        array, mask = node.value, node.slice
    elif isinstance(node, ast.Call) and called(node) == "masked_select" and not node.keywords:
        if not isinstance(node.func, ast.Attribute):
            return None
        given = [*node.args]
        if root(node.func) != evidence.torch:
            given.insert(0, node.func.value)
        if len(given) != 2:
            return None
        array, mask = given
    else:
        return None
    if not is_boolean(mask, evidence) or is_scalar(mask, evidence) or _is_chained(mask):
        return None
    require_computable(array, _compared(mask, evidence))
    return Selection(node, array, mask, _kind(array, mask, evidence))


def _is_chained(mask: ast.expr) -> bool:
    return isinstance(mask, ast.Compare) and len(mask.ops) > 1


def _compared(mask: ast.expr, evidence: Evidence) -> ast.expr:
    while isinstance(mask, ast.Name):
        value = evidence.function.only_value(mask.id)
        if value is None:
            raise Refused
        mask = value
    return mask


def _kind(array: ast.expr, mask: ast.expr, evidence: Evidence) -> str:
    if isinstance(mask, ast.Name) and not _keeps_value(array, evidence):
        return "unknown"
    mask = _compared(mask, evidence)
    if isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute):
        return "same" if _peeled(mask) == ast.dump(array) else "unknown"
    if not isinstance(mask, ast.Compare) or not evidence.is_number(mask.comparators[-1]):
        return "unknown"
    left = mask.left
    if _peeled(left) == ast.dump(array):
        return "same"
    if isinstance(left, ast.Name) and _keeps_value(array, evidence):
        left = evidence.function.only_value(left.id) or left
    return "rows" if _is_row_reduction(left, array) else "unknown"


def _keeps_value(array: ast.expr, evidence: Evidence) -> bool:
    """Whether it is a name that means one tensor in all the function."""
    if not isinstance(array, ast.Name):
        return False
    given = array.id in evidence.function.parameters
    return len(evidence.function.bindings(array.id)) == (0 if given else 1)


def _peeled(node: ast.expr) -> str:
    """What elementwise methods are called on."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _ALONE
        and not node.args
        and not node.keywords
    ):
        node = node.func.value
    return ast.dump(node)


def _is_row_reduction(node: ast.expr, array: ast.expr) -> bool:
    """``array.sum(-1)``: one dimension less than the array has, the last."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if called(node) not in ("sum", "mean", "amax", "amin", "any", "all", "norm", "std", "var"):
        return False
    dims = [*node.args, *(k.value for k in node.keywords if k.arg == "dim")]
    if len(dims) != 1 or len(dims) != len(node.args) + len(node.keywords):
        return False
    if called(node) in ("norm", "std", "var") and node.args:
        return False
    return ast.dump(node.func.value) == ast.dump(array) and ast.unparse(dims[0]) == "-1"


def elementwise(node: ast.expr, evidence: Evidence) -> bool:
    """Whether an expression on elements, such as ``(a - b) ** 2``, has one result for each."""
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.MatMult)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.USub, ast.UAdd))
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and not isinstance(node.ops[0], IDENTITY)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return False
    if root(node.func) == evidence.torch:
        return node.func.attr in vocabulary.ELEMENTWISE and len(node.args) == 1
    if node.func.attr in _ALONE:
        return not node.args
    return node.func.attr in ("pow", "add", "sub", "mul", "div") and len(node.args) == 1
