"""A check of a tensor's value that raises or reports."""

import ast
import contextlib

from graphlens.analysis.rewrites.calls import called
from graphlens.analysis.rewrites.condition import as_condition
from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.effects import require_plain
from graphlens.analysis.rewrites.guard import guard, guard_test, require_unguarded
from graphlens.analysis.rewrites.layout import loose_comments
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.reports import is_report
from graphlens.analysis.rewrites.text import Refused, last_line

_UNCOMPILED = "Check only where the code is not compiled"
_SKIPPED = "the check is not made in compiled code"


def check(branch: ast.If, place: Place) -> list[Draft]:
    """An ``if`` with nothing in it but a raise or reports."""
    if branch.orelse or not all(_is_check(statement) for statement in branch.body):
        raise Refused
    require_plain(branch.test)
    require_unguarded(branch, place)
    drafts = [Draft(_UNCOMPILED, tuple(guard_test(branch.test, place)), _SKIPPED)]
    with contextlib.suppress(Refused):  # the first is offered alone
        drafts.append(_asserted(branch, place))
    return drafts


def check_assertion(assertion: ast.Assert, place: Place) -> list[Draft]:
    """An ``assert``: torch compiles it for one tensor and a message that is written out."""
    require_plain(assertion.test)
    require_unguarded(assertion, place)
    drafts: list[Draft] = []
    plain = assertion.msg is None or isinstance(assertion.msg, ast.Constant)
    if plain:
        try:
            condition = as_condition(assertion.test, place.evidence)
        except Refused:
            condition = place.text.of(assertion.test)
        if condition != place.text.of(assertion.test):
            edit = Edit(*place.text.span(assertion.test), condition)
            if not loose_comments(place.program, (edit.start, edit.end), []):
                drafts.append(
                    Draft(
                        "Assert one tensor, which compiled code can check",
                        (edit,),
                        "in compiled code it raises RuntimeError",
                    )
                )
    if assertion.msg is not None:
        require_plain(assertion.msg)
    drafts.append(Draft(_UNCOMPILED, tuple(guard([assertion], place)), _SKIPPED))
    return drafts


def _is_check(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    return isinstance(statement, ast.Expr) and is_report(statement.value)


def _asserted(branch: ast.If, place: Place) -> Draft:
    """``raise ValueError("...")`` as an assertion, which stays a check in compiled code."""
    text, raised = place.text, branch.body[0]
    if len(branch.body) != 1 or not isinstance(raised, ast.Raise) or raised.cause:
        raise Refused
    if raised.exc is None or text.source.startswith("elif", text.start(branch)):
        raise Refused
    arguments = raised.exc.args if isinstance(raised.exc, ast.Call) else []
    if len(arguments) > 1 or (isinstance(raised.exc, ast.Call) and raised.exc.keywords):
        raise Refused
    message = ""
    for argument in arguments:
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise Refused
        if last_line(argument) != argument.lineno:
            raise Refused
        message = f", {text.of(argument)}"
    condition = as_condition(branch.test, place.evidence)
    span = text.span(branch)
    comments = loose_comments(place.program, span, [text.span(branch.test)])
    line_end, indent = text.line_end(branch.lineno), text.indent(branch.lineno)
    above = "".join(f"{comment}{line_end}{indent}" for comment in comments)
    name = called(raised.exc) or text.of(raised.exc)
    new = f"{above}assert {place.torch}.logical_not({condition}){message}"
    return Draft(
        "Assert in place of raising, which compiled code can check",
        (Edit(*span, new),),
        f"it raises AssertionError in place of {name}, and RuntimeError in compiled code; "
        "python -O leaves it out",
    )
