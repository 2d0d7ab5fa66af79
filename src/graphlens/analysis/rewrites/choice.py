"""An ``if`` as choices between values: what torch.where and torch.cond can stand for."""

import ast
from dataclasses import dataclass

from graphlens.analysis.rewrites.arms import Side, Step, require_unshared, steps, untouched
from graphlens.analysis.rewrites.condition import as_condition
from graphlens.analysis.rewrites.effects import require_computable
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.flow import Flow
from graphlens.analysis.rewrites.text import Refused


@dataclass(frozen=True)
class Choice:
    """One statement with a value for either outcome."""

    head: str
    names: tuple[str, ...]
    yes: tuple[Side, ...]
    no: tuple[Side, ...]

    @property
    def nodes(self) -> tuple[ast.expr, ...]:
        return tuple(node for side in self.yes + self.no for node in side.nodes)


@dataclass(frozen=True)
class Choices:
    """An ``if`` whose two sides do the same things with other values.

    Attributes:
        condition: Its condition, as a tensor.
        all: What it does, in order.
        last: The statement it ends with: for results that may be the one after it.
    """

    condition: str
    all: tuple[Choice, ...]
    last: ast.stmt


def choices(branch: ast.If, evidence: Evidence, sure: bool = True) -> Choices:
    """Reads a branch.

    In order is right: after each choice the names have the values of the side chosen, and on
    those the next one computes that side; what the other side computes then is not chosen.

    Args:
        branch: The branch.
        evidence: What is known in the function.
        sure: Whether its condition is known to be a tensor.
    """
    condition = as_condition(branch.test, evidence, sure)
    last: ast.stmt = branch
    yes = _sides(branch.body, evidence)
    if branch.orelse:
        no = _sides(branch.orelse, evidence)
    elif yes and not yes[-1].names:
        last = _after(branch, evidence)
        no = steps([last], evidence)
    else:
        no = []
    if not yes and not no:
        raise Refused
    yes = yes or [untouched(step, branch, evidence) for step in no]
    no = no or [untouched(step, branch, evidence) for step in yes]
    pairs = list(zip(yes, no, strict=False))
    if len(yes) != len(no) or any(_differ(*pair) for pair in pairs):
        raise Refused
    for step in yes + no:
        require_computable(*(node for side in step.sides for node in side.nodes))
        require_unshared(step, evidence)
    both = tuple(Choice(a.head, a.names, a.sides, b.sides) for a, b in pairs)
    _require_tensors(both, evidence)
    return Choices(condition, both, last)


def where(condition: str, yes: str, no: str, evidence: Evidence) -> str:
    return f"{evidence.torch}.where({condition}, {yes}, {no})"


def _sides(block: list[ast.stmt], evidence: Evidence) -> list[Step]:
    """What a block does; an ``elif`` in it is a choice of its own."""
    if len(block) != 1 or not isinstance(block[0], ast.If):
        return steps(block, evidence)
    inner = choices(block[0], evidence, sure=False)
    if len(inner.all) != 1 or inner.last is not block[0]:
        raise Refused
    choice = inner.all[0]
    sides = tuple(
        Side(where(inner.condition, a.text, b.text, evidence), a.nodes + b.nodes, False, True)
        for a, b in zip(choice.yes, choice.no, strict=True)
    )
    if len(sides) != 1:
        raise Refused
    return [Step(choice.head, choice.names, sides)]


def _after(branch: ast.If, evidence: Evidence) -> ast.stmt:
    block = evidence.function.program.block(branch)
    place = block.index(branch) + 1
    if place == len(block):
        raise Refused
    return block[place]


def _differ(yes: Step, no: Step) -> bool:
    return yes.head != no.head or len(yes.sides) != len(no.sides)


def _require_tensors(both: tuple[Choice, ...], evidence: Evidence) -> None:
    """Where both values are numbers of Python, a tensor must do for the name as well."""
    for choice in both:
        for place, (yes, no) in enumerate(zip(choice.yes, choice.no, strict=True)):
            if not (yes.is_number and no.is_number):
                continue
            if not choice.names:
                raise Refused
            flow = Flow(evidence)
            for use in evidence.function.uses(choice.names[place]):
                flow.follow(use)
            if flow.branches:
                raise Refused
