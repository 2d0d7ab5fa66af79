"""The two sides of a branch, as assignments or results that can be chosen between."""

import ast
from dataclasses import dataclass

from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.forms import is_fresh
from graphlens.analysis.rewrites.sharing import is_own, is_written, names_in
from graphlens.analysis.rewrites.text import Refused, last_line

SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


@dataclass(frozen=True)
class Side:
    """A value on one side.

    Attributes:
        text: How to write it.
        nodes: The expressions of the file in it.
        is_number: Whether it is plainly a number of Python.
        is_fresh: Whether it is plainly a tensor that nothing else can see.
    """

    text: str
    nodes: tuple[ast.expr, ...]
    is_number: bool
    is_fresh: bool


@dataclass(frozen=True)
class Step:
    """What one side does in one go.

    Attributes:
        head: What stands before the values, such as ``x = `` or ``return ``.
        names: The names that get them; none for a result.
        sides: The values.
    """

    head: str
    names: tuple[str, ...]
    sides: tuple[Side, ...]


def steps(block: list[ast.stmt], evidence: Evidence) -> list[Step]:
    """What a block does, if it is nothing but assignments to names or a result."""
    done: list[Step] = []
    for statement in block:
        if isinstance(statement, ast.Return) and statement.value and statement is block[-1]:
            done.append(Step("return ", (), _values(statement.value, evidence)))
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            done.append(_assigned(statement, evidence))
        elif isinstance(statement, ast.AugAssign):
            done.append(_augmented(statement, evidence))
        elif not isinstance(statement, ast.Pass):
            raise Refused
    return done


def untouched(step: Step, branch: ast.If, evidence: Evidence) -> Step:
    """The side of a branch that leaves the names as they are, where they surely have a value."""
    if not step.names:
        raise Refused
    for name in step.names:
        if not _is_bound_before(name, branch, evidence):
            raise Refused
    names = [ast.Name(name, ast.Load()) for name in step.names]
    if any(map(evidence.is_neither, names)):
        raise Refused
    sides = tuple(
        Side(node.id, (), evidence.is_number(node), is_own(node.id, evidence)) for node in names
    )
    return Step(step.head, step.names, sides)


def require_unshared(step: Step, evidence: Evidence) -> None:
    """Refuses where one of two names for the same tensor is written to.

    The choice is a new tensor: what is written to it would no longer reach the other one.
    """
    shared = [side for side in step.sides if not (side.is_fresh or side.is_number)]
    given = {name for side in shared for node in side.nodes for name in names_in(node)}
    if shared and any(is_written(name, evidence) for name in given.union(step.names)):
        raise Refused


def _values(value: ast.expr, evidence: Evidence) -> tuple[Side, ...]:
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    if isinstance(value, ast.Tuple) and len(values) < 2:
        raise Refused
    if any(isinstance(part, ast.Starred) or evidence.is_neither(part) for part in values):
        raise Refused
    text = evidence.function.program.text
    return tuple(
        Side(text.of(part), (part,), evidence.is_number(part), is_fresh(part, evidence))
        for part in values
    )


def _assigned(statement: ast.Assign, evidence: Evidence) -> Step:
    target = statement.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    sides = _values(statement.value, evidence)
    names = tuple(node.id for node in targets if isinstance(node, ast.Name))
    several = isinstance(target, ast.Tuple)
    if len(names) != len(targets) or len(sides) != len(names):
        raise Refused
    if several != isinstance(statement.value, ast.Tuple):
        raise Refused
    return Step(", ".join(names) + " = ", names, sides)


def _augmented(statement: ast.AugAssign, evidence: Evidence) -> Step:
    """``x += a`` as ``x + a``, where x is no one else's: on a tensor it writes in place."""
    target, value = statement.target, statement.value
    if not isinstance(target, ast.Name) or type(statement.op) not in SIGNS:
        raise Refused
    if not is_own(target.id, evidence) or evidence.is_neither(value):
        raise Refused
    text = evidence.function.program.text.of(value)
    if not isinstance(value, _ATOMS):
        text = f"({text})"
    number = evidence.is_number(value) and target.id in evidence.numbers
    side = Side(f"{target.id} {SIGNS[type(statement.op)]} {text}", (value,), number, True)
    return Step(f"{target.id} = ", (target.id,), (side,))


def _is_bound_before(name: str, branch: ast.If, evidence: Evidence) -> bool:
    """Whether a name surely has a value at a branch: it is given, or assigned on the way there."""
    if name in evidence.function.parameters:
        return True
    program = evidence.function.program
    way = [branch, *program.above(branch)]
    way = way[: way.index(evidence.function.node)]
    for outer in way:
        if not isinstance(outer, ast.stmt):
            continue
        for statement in program.block(outer):
            if statement is outer:
                break
            if last_line(statement) < branch.lineno and _assigns(statement, name):
                return True
    return False


def _assigns(statement: ast.stmt, name: str) -> bool:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.AnnAssign) and statement.value
    ):
        targets = [statement.target]
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for target in targets
        for node in ast.walk(target)
    )
