"""What an expression plainly is: a tensor, a number, neither, or not known."""

import ast
from dataclasses import dataclass

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
_CONTAINERS = vocabulary.words("tuple list dict set frozenset str bytes range zip map repr type")
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
        if isinstance(node, ast.BinOp):
            # A name in arithmetic is no None there, whatever it is by default.
            return self.is_neither(node.left, 0) or self.is_neither(node.right, 0)
        if isinstance(node, ast.Call):
            return _makes_object(node)
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


def _makes_object(node: ast.Call) -> bool:
    """Whether it calls a container, or what has the name of a class."""
    name = called(node)
    if isinstance(node.func, ast.Name) and name in _CONTAINERS:
        return True
    return name[:1].isupper() and "Tensor" not in name and name not in ("Parameter", "Variable")


def _is_functional(func: ast.Attribute) -> bool:
    owner = dotted(func.value)
    return owner == "F" or owner.endswith("nn.functional")
