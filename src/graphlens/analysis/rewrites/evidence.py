"""What an expression plainly is: a tensor, a number, neither, or not known."""

import ast
from dataclasses import dataclass, replace

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called, dotted, last_name, root
from graphlens.analysis.rewrites.names import Function

IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_NEITHER = (
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.BoolOp,
)
_NUMBERS = ("item", "numel", "dim")


@dataclass(frozen=True)
class Evidence:
    """What is known of a function's expressions.

    Attributes:
        function: The function.
        torch: Its name for torch.
        tensors: Names that plainly hold tensors.
        numbers: Names that plainly hold numbers of Python.
    """

    function: Function
    torch: str
    tensors: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether it is plainly a tensor."""
        if isinstance(node, ast.Name):
            return node.id in self.tensors
        if isinstance(node, ast.Call):
            return self._tensor_call(node)
        if isinstance(node, ast.Compare):
            plain = len(node.ops) == 1 and not isinstance(node.ops[0], IDENTITY)
            return plain and any(map(self.is_tensor, [node.left, *node.comparators]))
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.is_tensor(node.operand)
        if isinstance(node, ast.Subscript):
            return self.is_tensor(node.value)
        if isinstance(node, ast.IfExp):
            return self.is_tensor(node.body) and self.is_tensor(node.orelse)
        if isinstance(node, ast.Attribute):
            return node.attr in ("T", "mT", "data", "grad") and self.is_tensor(node.value)
        return False

    def is_number(self, node: ast.expr) -> bool:
        """Whether it is plainly a number of Python."""
        if isinstance(node, ast.Name):
            return node.id in self.numbers
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.is_number(node.operand)
        if isinstance(node, ast.BinOp):
            return self.is_number(node.left) and self.is_number(node.right)
        if isinstance(node, ast.Subscript):  # a size
            whole = isinstance(node.slice, (ast.Constant, ast.UnaryOp, ast.Name))
            return whole and last_name(node.value) == "shape"
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                counted = node.func.attr == "size" and bool(node.args)
                return counted or node.func.attr in _NUMBERS or root(node.func) == "math"
            return called(node) in ("float", "int", "len")
        return False

    def is_neither(self, node: ast.expr, depth: int = 4) -> bool:
        """Whether it is plainly no tensor and no number, or may be none."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool) or not isinstance(node.value, (int, float))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        if isinstance(node, ast.Compare):
            return any(isinstance(op, IDENTITY) for op in node.ops)
        if isinstance(node, ast.Name) and depth:
            values = [binding.value for binding in self.function.bindings(node.id)]
            default = self.function.defaults.get(node.id)
            return any(self.is_neither(v, depth - 1) for v in [*values, default] if v is not None)
        return isinstance(node, _NEITHER)

    def module(self, node: ast.Call) -> str:
        """The class in torch.nn of the ``self.name`` that is called, else nothing."""
        owner = self.function.program.owner(self.function.node)
        if owner is None or dotted(node.func) != f"self.{last_name(node.func)}":
            return ""
        for inner in ast.walk(owner):
            if isinstance(inner, ast.Assign) and any(
                dotted(target) == dotted(node.func) for target in inner.targets
            ):
                made = inner.value
                known = isinstance(made, ast.Call) and ".nn." in f".{dotted(made.func)}"
                return called(made) if known else ""
        return ""

    def _tensor_call(self, node: ast.Call) -> bool:
        if not isinstance(node.func, ast.Attribute):
            return False
        if self.module(node) or _is_functional(node.func):
            return True
        if root(node.func) == self.torch:
            return node.func.attr in vocabulary.TENSOR_METHODS | vocabulary.FACTORIES
        receiver = node.func.value
        if isinstance(receiver, ast.Name) and not self.function.binds(receiver.id):
            return False  # np.sum, math.exp
        return node.func.attr in vocabulary.TENSOR_METHODS


def learn(function: Function, torch: str, kept: frozenset[str] = frozenset()) -> Evidence:
    """What is known in a function.

    Args:
        function: The function.
        torch: Its name for torch.
        kept: Names of numbers that a rewrite makes tensors.
    """
    evidence = Evidence(function, torch)
    sure = kept | _sure_tensors(function, torch)
    # Taken for granted until one of its values tells otherwise: a loop may add to it.
    guess = sure | _with_values(function)
    while guess != evidence.tensors:
        evidence = replace(evidence, tensors=guess)
        guess = sure | {name for name in guess if _holds(name, evidence)}
    given = _sure_numbers(function)
    numbers = (given | _with_values(function)) - sure
    while numbers != evidence.numbers:
        evidence = replace(evidence, numbers=numbers)
        numbers = frozenset(name for name in numbers if _counts(name, evidence))
    return evidence


def _with_values(function: Function) -> frozenset[str]:
    return frozenset(
        name
        for name, bindings in function.all_bindings.items()
        if name not in function.parameters
        and all(binding.value or binding.added for binding in bindings)
        and any(binding.value for binding in bindings)
    )


def _holds(name: str, evidence: Evidence) -> bool:
    values = [binding.value for binding in evidence.function.bindings(name)]
    return name not in evidence.function.parameters and all(
        evidence.is_tensor(value) for value in values if value is not None
    )


def _counts(name: str, evidence: Evidence) -> bool:
    return all(
        evidence.is_number(value)
        for binding in evidence.function.bindings(name)
        if (value := binding.value or binding.added) is not None
    )


def _sure_tensors(function: Function, torch: str) -> frozenset[str]:
    """By their annotation, or by a method that is called on them."""
    annotated = {
        name
        for name, parameter in function.parameters.items()
        if dotted(parameter.annotation) in ("Tensor", f"{torch}.Tensor")
    }
    return frozenset(
        annotated.union(
            node.func.value.id
            for node in ast.walk(function.node)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.attr in vocabulary.TENSOR_METHODS
            and function.binds(node.func.value.id)
        )
    )


def _sure_numbers(function: Function) -> frozenset[str]:
    plain = Evidence(function, "")
    return frozenset(
        name
        for name, parameter in function.parameters.items()
        if dotted(parameter.annotation) in ("int", "float")
        or (name in function.defaults and plain.is_number(function.defaults[name]))
    )


def _is_functional(func: ast.Attribute) -> bool:
    owner = dotted(func.value)
    return owner == "F" or owner.endswith("nn.functional")
