"""A branch on a tensor's value: torch.where computes both sides, torch.cond one."""

import ast
from collections.abc import Iterator

from graphlens.analysis.rewrites.calls import dotted
from graphlens.analysis.rewrites.choice import Choices, choices
from graphlens.analysis.rewrites.condition import as_condition
from graphlens.analysis.rewrites.conversion import without_conversions
from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.effects import (
    has_unknown_call,
    may_be_unbounded,
    require_computable,
)
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.flow import Branch, Flow
from graphlens.analysis.rewrites.forms import is_fresh, is_scalar
from graphlens.analysis.rewrites.layout import Call, Style, loose_comments
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.sharing import is_written, names_in
from graphlens.analysis.rewrites.text import Refused

_WHERE = "Choose with torch.where in place of the branch"
_COND = "Choose with torch.cond in place of the branch"
_COND_CAUTION = (
    "both sides must give new tensors of the same shape and dtype; uncompiled, each call is traced"
)


def choose(branch: Branch, place: Place) -> list[Draft]:
    """A branch with values on both sides, without branching."""
    if isinstance(branch, ast.IfExp):
        return list(_expression(branch, place))
    return list(_statement(branch, place))


def _statement(branch: ast.If, place: Place) -> Iterator[Draft]:
    found = choices(branch, place.evidence)
    nodes = tuple(node for choice in found.all for node in choice.nodes)
    style = _style(branch, place)
    condition, lines = _named_condition(found, place.evidence)
    for choice in found.all:
        pairs = zip(choice.yes, choice.no, strict=True)
        calls = [Call(f"{place.torch}.where", (condition, a.text, b.text)) for a, b in pairs]
        lines.append(style.statement(choice.head, calls))
    yield Draft(
        _WHERE,
        (_replaced(branch, found, lines, place),),
        _where_caution(branch.test, nodes, place.evidence),
    )
    only = found.all[0]
    if len(found.all) == len(only.yes) == 1 and len(only.nodes) == 2:
        call = _cond_call(found.condition, *only.nodes, place.evidence)
        if call:
            lines = [style.statement(only.head, [call])]
            yield Draft(_COND, (_replaced(branch, found, lines, place),), _COND_CAUTION)


def _expression(branch: ast.IfExp, place: Place) -> Iterator[Draft]:
    evidence, text = place.evidence, place.text
    condition = as_condition(branch.test, evidence)
    sides = (branch.body, branch.orelse)
    require_computable(*sides)
    if any(evidence.is_neither(side) for side in sides):
        raise Refused
    if all(evidence.is_number(side) for side in sides):
        flow = Flow(evidence)
        flow.follow(branch)
        if flow.branches:
            raise Refused
    if any(isinstance(node, ast.JoinedStr) for node in place.program.above(branch)):
        raise Refused  # parts of it have no sure place in the text
    if not all(is_fresh(side, evidence) for side in sides):
        _require_unwritten(branch, place)
    span = text.span(branch)
    if loose_comments(place.program, span, map(text.span, (branch.test, *sides))):
        raise Refused
    call = Call(f"{place.torch}.where", (condition, *map(text.of, sides)))
    yield Draft(_WHERE, (Edit(*span, call.text),), _where_caution(branch.test, sides, evidence))
    other = _cond_call(condition, *sides, evidence)
    if other:
        yield Draft(_COND, (Edit(*span, other.text),), _COND_CAUTION)


def _require_unwritten(branch: ast.IfExp, place: Place) -> None:
    """Refuses where what is chosen is written to: the choice is a new tensor."""
    parent = place.program.parents[branch]
    names = names_in(branch.body) | names_in(branch.orelse)
    for target in parent.targets if isinstance(parent, ast.Assign) else []:
        names |= names_in(target)
        if any(is_written(name, place.evidence) for name in names):
            raise Refused
    stored = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
    if stored or (isinstance(parent, ast.Attribute) and parent.attr.endswith("_")):
        raise Refused


def _where_caution(test: ast.expr, nodes: tuple[ast.expr, ...], evidence: Evidence) -> str:
    parts = ["both sides are computed, and the result is a new tensor of their common dtype"]
    if not _has_no_dimensions(without_conversions(test, evidence), evidence):
        parts.append("it has the condition's dimensions, if that has any")
    if has_unknown_call(*nodes):
        parts.append("what their calls change besides, they change each time")
    if may_be_unbounded(*nodes) or has_unknown_call(*nodes):
        parts.append("an inf or NaN on the side not chosen makes the gradient NaN")
    return "; ".join(parts)


def _has_no_dimensions(test: ast.expr, evidence: Evidence) -> bool:
    """Whether a condition is plainly about one number, at least on one side of a comparison."""
    if isinstance(test, ast.BoolOp):
        return all(_has_no_dimensions(value, evidence) for value in test.values)
    if isinstance(test, ast.UnaryOp):
        return _has_no_dimensions(test.operand, evidence)
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        return any(is_scalar(s, evidence) and not evidence.is_number(s) for s in sides)
    return is_scalar(test, evidence)


def _named_condition(found: Choices, evidence: Evidence) -> tuple[str, list[str]]:
    """The condition, by a name of its own where it is asked for more than once."""
    condition = found.condition
    once = sum(len(choice.yes) for choice in found.all) == 1
    changed = {name for choice in found.all for name in choice.names}
    if once or (condition.isidentifier() and condition not in changed):
        return condition, []
    name = evidence.function.unused("condition")
    value = f"({condition})" if "\n" in condition else condition
    return name, [f"{name} = {value}"]


def _cond_call(condition: str, yes: ast.expr, no: ast.expr, evidence: Evidence) -> Call | None:
    """Two functions called with the same tensors."""
    if not (isinstance(yes, ast.Call) and isinstance(no, ast.Call)):
        return None
    names = [node.id for node in yes.args if isinstance(node, ast.Name)]
    same = [node.id for node in no.args if isinstance(node, ast.Name)] == names
    plain = len(names) == len(yes.args) == len(no.args) and not yes.keywords + no.keywords
    if not (names and same and plain) or any(name in evidence.numbers for name in names):
        return None
    functions = dotted(yes.func), dotted(no.func)
    if not all(functions):
        return None
    operands = f"({', '.join(names)},)" if len(names) == 1 else f"({', '.join(names)})"
    return Call(f"{evidence.torch}.cond", (condition, *functions, operands))


def _is_elif(branch: ast.If, place: Place) -> bool:
    return place.text.source.startswith("elif", place.text.start(branch))


def _style(branch: ast.If, place: Place) -> Style:
    indent = place.text.indent(branch.lineno)
    unit = place.program.unit(branch.body[0])
    if _is_elif(branch, place):
        indent += unit
    return Style(indent, unit, place.text.line_end(branch.lineno))


def _replaced(branch: ast.If, found: Choices, lines: list[str], place: Place) -> Edit:
    """The branch's text replaced; comments in it move above what is new."""
    text, style = place.text, _style(branch, place)
    span = text.start(branch), text.end(found.last)
    nodes = [branch.test, *(node for choice in found.all for node in choice.nodes)]
    comments = loose_comments(place.program, span, map(text.span, nodes))
    new = style.block([*comments, *lines])
    if _is_elif(branch, place):
        new = f"else:{style.line_end}{style.indent}{new}"
    return Edit(*span, new)
