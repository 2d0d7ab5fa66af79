"""A list that a loop fills from a tensor, one element at a time, to stack or add it up."""

import ast
from dataclasses import dataclass

from graphlens.analysis.rewrites.calls import called, dotted, root
from graphlens.analysis.rewrites.edits import Edit, apply
from graphlens.analysis.rewrites.layout import loose_comments
from graphlens.analysis.rewrites.masked import elementwise
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.sharing import is_written
from graphlens.analysis.rewrites.text import Refused

_TITLE = "Compute all rows at once in place of one by one"


def at_once(place: Place) -> list[Draft]:
    """``for v in xs: out.append(v * 2)``, then ``torch.stack(out)``, as ``xs * 2``."""
    loop = _loop(place)
    filled = _Filled.read(loop, place)
    row, rows = filled.row, filled.rows
    if not place.evidence.is_tensor(rows) or not isinstance(rows, ast.Name):
        raise Refused
    if place.function.bindings(rows.id) or len(place.function.bindings(row)) != 1:
        raise Refused  # what is looped over must be the same until the list is used
    if is_written(rows.id, place.evidence):
        raise Refused
    _require_by_element(filled.value, row, place)
    text = place.text
    names = [
        node for node in ast.walk(filled.value) if isinstance(node, ast.Name) and node.id == row
    ]
    edits = [Edit(*text.span(node), rows.id) for node in names]
    if len(place.function.uses(row)) != len(names):
        raise Refused
    value = apply(text.source, edits, text.span(filled.value))
    if isinstance(filled.value, ast.Name):
        raise Refused  # the result would be the tensor itself
    bare = isinstance(filled.value, ast.Call)
    used, kind = _used(filled, place)
    if kind == "sum":
        value = f"{value if bare else f'({value})'}.sum(0)"
    elif not bare and not isinstance(place.program.parents[used], (ast.Return, ast.Assign)):
        value = f"({value})"
    removed = _removed(filled.start, loop, place)
    return [Draft(_TITLE, (removed, Edit(*text.span(used), value)), _caution(kind))]


@dataclass(frozen=True)
class _Filled:
    """A list and the loop that fills it."""

    name: str
    start: ast.stmt
    loop: ast.For
    row: str
    rows: ast.expr
    value: ast.expr

    @staticmethod
    def read(loop: ast.For, place: Place) -> "_Filled":
        block = place.program.block(loop)
        before = block[block.index(loop) - 1] if block.index(loop) else loop
        body = loop.body[0]
        if len(loop.body) != 1 or loop.orelse or not isinstance(loop.target, ast.Name):
            raise Refused
        if not isinstance(body, ast.Expr) or not isinstance(body.value, ast.Call):
            raise Refused
        call, name = body.value, dotted(body.value.func).removesuffix(".append")
        if called(call) != "append" or len(call.args) != 1 or call.keywords:
            raise Refused
        if not isinstance(before, ast.Assign) or [dotted(t) for t in before.targets] != [name]:
            raise Refused
        if not isinstance(before.value, ast.List) or before.value.elts or "." in name:
            raise Refused
        return _Filled(name, before, loop, loop.target.id, loop.iter, call.args[0])


def _loop(place: Place) -> ast.For:
    """The loop on the line, or whose list is used there."""
    for node in (place.statement, *place.program.above(place.statement)):
        if isinstance(node, ast.For):
            return node
        if node is place.function.node:
            break
    block = place.program.block(place.statement)
    index = block.index(place.statement)
    for near in reversed(block[max(index - 2, 0) : index + 2]):
        if isinstance(near, ast.For):
            return near
    raise Refused


def _require_by_element(node: ast.expr, row: str, place: Place) -> None:
    """Only arithmetic on the row and numbers: other tensors would be matched to other rows."""
    if place.evidence.is_number(node) or (isinstance(node, ast.Name) and node.id == row):
        return
    if not elementwise(node, place.evidence):
        raise Refused
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        own = [] if root(node.func) == place.torch else [node.func.value]
        parts = [*own, *node.args]
    for part in parts:
        _require_by_element(part, row, place)


def _used(filled: _Filled, place: Place) -> tuple[ast.Call, str]:
    """The only use of the list."""
    uses = place.function.uses(filled.name)
    if len(place.function.bindings(filled.name)) != 1 or len(uses) != 2:
        raise Refused
    for use in uses:
        call = place.program.parents[use]
        if isinstance(call, ast.Call) and call.args[:1] == [use] and not call.keywords:
            stacked = dotted(call.func) == f"{place.torch}.stack"
            dims = [ast.unparse(argument) for argument in call.args[1:]]
            if stacked and dims in ([], ["0"]):
                return call, "stack"
            if dotted(call.func) == "sum" and not dims:
                return call, "sum"
    raise Refused


def _removed(first: ast.stmt, loop: ast.For, place: Place) -> Edit:
    text = place.text
    if text.before(first).strip() or text.after(loop).strip():
        raise Refused
    span = text.starts[first.lineno - 1], text.end(loop) + len(text.after(loop))
    if loose_comments(place.program, span, []):
        raise Refused
    return Edit(*span, "")


def _caution(kind: str) -> str:
    empty = "with no rows the result is empty and nothing raises"
    return "with no rows the result is a tensor of zeros" if kind == "sum" else empty
