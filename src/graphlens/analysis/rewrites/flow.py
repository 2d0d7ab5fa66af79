"""Where a number goes, to know whether a tensor could go there in its place."""

import ast
from dataclasses import dataclass, field

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called, root
from graphlens.analysis.rewrites.evidence import IDENTITY, Evidence
from graphlens.analysis.rewrites.text import Refused

Branch = ast.If | ast.IfExp
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)


@dataclass
class Flow:
    """What becomes of numbers that are made tensors.

    Attributes:
        evidence: What was known before.
        kept: Names that hold a tensor afterwards.
        branches: Branches that ask for its truth.
        divides: Whether a number is divided by one: Python raises where tensors give inf.
    """

    evidence: Evidence
    kept: set[str] = field(default_factory=set)
    branches: list[Branch] = field(default_factory=list)
    divides: bool = False

    def follow(self, node: ast.expr) -> None:
        """Refuses unless a tensor may stand for the number at every place it goes to."""
        parent = self.evidence.function.program.parents[node]
        if isinstance(parent, ast.BinOp):
            self._operation(parent, node)
        elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, (ast.USub, ast.UAdd)):
            self.follow(parent)
        elif isinstance(parent, ast.Compare):
            self._comparison(parent, node)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            self._assignment(parent.targets[0], node)
        elif isinstance(parent, ast.AugAssign) and isinstance(parent.op, _ARITHMETIC):
            self._require_tensor(parent.target)
        elif isinstance(parent, ast.Call):
            self._argument(parent, node)
        elif isinstance(parent, ast.keyword):
            self._bound(parent)
        else:
            self._truth(node)

    def _operation(self, operation: ast.BinOp, node: ast.expr) -> None:
        other = operation.right if operation.left is node else operation.left
        if not isinstance(operation.op, _ARITHMETIC) or self.evidence.is_neither(other):
            raise Refused
        if self.evidence.is_tensor(other):
            return
        if operation.right is node and isinstance(operation.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            self.divides = True
        self.follow(operation)

    def _comparison(self, comparison: ast.Compare, node: ast.expr) -> None:
        others = [side for side in [comparison.left, *comparison.comparators] if side is not node]
        if any(isinstance(op, IDENTITY) for op in comparison.ops):
            raise Refused
        if len(others) == 1 and self.evidence.is_tensor(others[0]):
            return
        self._truth(comparison)

    def _assignment(self, target: ast.expr, node: ast.expr) -> None:
        function = self.evidence.function
        if not isinstance(target, ast.Name) or function.only_value(target.id) is not node:
            raise Refused
        if target.id not in self.kept:
            self.kept.add(target.id)
            for use in function.uses(target.id):
                self.follow(use)

    def _argument(self, call: ast.Call, node: ast.expr) -> None:
        if call.keywords or node not in call.args:
            raise Refused
        name = called(call)
        if name == "abs" and isinstance(call.func, ast.Name):
            self.follow(call)
            return
        if not isinstance(call.func, ast.Attribute) or name not in vocabulary.PAIRWISE:
            raise Refused
        if root(call.func) == self.evidence.torch:
            if not any(self.evidence.is_tensor(other) for other in call.args if other is not node):
                raise Refused
        else:
            self._require_tensor(call.func.value)

    def _bound(self, keyword: ast.keyword) -> None:
        """``x.clamp(max=v)``: it takes a tensor, but not one beside a number."""
        call = self.evidence.function.program.parents[keyword]
        if not isinstance(call, ast.Call) or called(call) not in ("clamp", "clip"):
            raise Refused
        if keyword.arg not in ("min", "max") or len(call.keywords) != 1:
            raise Refused
        if not isinstance(call.func, ast.Attribute):
            raise Refused
        functional = root(call.func) == self.evidence.torch
        if len(call.args) != (1 if functional else 0):
            raise Refused
        self._require_tensor(call.args[0] if functional else call.func.value)

    def _truth(self, node: ast.expr) -> None:
        """A branch can be rewritten as well; nothing else that asks for the truth."""
        parents = self.evidence.function.program.parents
        inner, parent = node, parents[node]
        while isinstance(parent, ast.BoolOp) or (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        ):
            inner, parent = parent, parents[parent]
        if not isinstance(parent, (ast.If, ast.IfExp)) or parent.test is not inner:
            raise Refused
        if parent not in self.branches:
            self.branches.append(parent)

    def _require_tensor(self, node: ast.expr) -> None:
        if not self.evidence.is_tensor(node):
            raise Refused
