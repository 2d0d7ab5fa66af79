"""One statement of a graph's readable code, read back into an FX call."""

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

# torch.fx.graph.magic_methods and inplace_methods: how FX prints calls of the operator module.
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not_",
}
INPLACE = {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "itruediv",
    "//": "ifloordiv",
    "%": "imod",
    "**": "ipow",
    "@": "imatmul",
    "<<": "ilshift",
    ">>": "irshift",
    "&": "iand",
    "|": "ior",
    "^": "ixor",
}


@dataclass(frozen=True)
class Call:
    """An FX call: opcode, target, and arguments as text."""

    op: str
    target: str
    args: tuple[str, ...] = ()
    kwargs: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()


def parse_call(text: str, known: Collection[str]) -> Call:
    """Reads the right-hand side of a statement.

    Args:
        text: Such as ``torch.ops.aten.add.Tensor(x, 1)``, ``x.sum()``, ``x + 1`` or ``x[0]``.
        known: Names of the nodes before it; they tell a method from a function.

    An expression that Python cannot parse (FX prints some constants by their repr) keeps its
    target up to the first parenthesis, and its arguments as one text.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return _unparsed(text, known)
    return _Reader(text, known).read(tree)


class _Reader:
    def __init__(self, text: str, known: Collection[str]) -> None:
        self.bytes = text.encode()  # ast counts columns in UTF-8 bytes
        self.known = known

    def read(self, tree: ast.expr) -> Call:
        if isinstance(tree, ast.Call):
            return self.call(tree)
        if isinstance(tree, ast.Subscript):
            return self.function("operator.getitem", tree, [tree.value, tree.slice])
        if isinstance(tree, ast.BinOp):
            return self.function(self.operator(tree.op), tree, [tree.left, tree.right])
        if isinstance(tree, ast.UnaryOp):
            return self.function(self.operator(tree.op), tree, [tree.operand])
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
            operator = self.operator(tree.ops[0])
            return self.function(operator, tree, [tree.left, tree.comparators[0]])
        if isinstance(tree, ast.Attribute):
            return self.attribute(tree)
        return Call("call_function", self.source(tree), (), (), self.inputs(tree))

    def call(self, tree: ast.Call) -> Call:
        kwargs = tuple((str(k.arg or "**"), self.source(k.value)) for k in tree.keywords)
        args = tuple(self.source(arg) for arg in tree.args)
        inputs = self.inputs(tree)
        root = _root(tree.func)
        if root == "self":
            return Call("call_module", self.source(tree.func)[5:], args, kwargs, inputs)
        if isinstance(tree.func, ast.Call) and self.source(tree.func).startswith("getattr(self"):
            return Call("call_module", _last_string(tree.func), args, kwargs, inputs)
        if root in self.known and isinstance(tree.func, ast.Attribute):
            owner = self.source(tree.func.value)
            return Call("call_method", tree.func.attr, (owner, *args), kwargs, inputs)
        # FX prints functions of the operator module under a name of its own.
        target = re.sub(r"^_operator_", "operator.", self.source(tree.func))
        return Call("call_function", target, args, kwargs, inputs)

    def attribute(self, tree: ast.Attribute) -> Call:
        if _root(tree) == "self":
            return Call("get_attr", self.source(tree)[5:])
        if _root(tree) in self.known:
            args = (self.source(tree.value), repr(tree.attr))
            return Call("call_function", "getattr", args, (), self.inputs(tree))
        return Call("call_function", self.source(tree))

    def function(self, target: str, tree: ast.expr, args: list[ast.expr]) -> Call:
        texts = tuple(self.source(arg) for arg in args)
        return Call("call_function", target, texts, (), self.inputs(tree))

    def operator(self, operator: ast.AST) -> str:
        return "operator." + _OPERATORS.get(type(operator), type(operator).__name__)

    def source(self, tree: ast.expr) -> str:
        return self.bytes[tree.col_offset : tree.end_col_offset].decode()

    def inputs(self, tree: ast.expr) -> tuple[str, ...]:
        names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in self.known]
        names.sort(key=lambda name: name.col_offset)
        return tuple(dict.fromkeys(name.id for name in names))


def _root(tree: ast.expr) -> str:
    while isinstance(tree, (ast.Attribute, ast.Subscript)):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else ""


def _last_string(tree: ast.Call) -> str:
    """``layers.0`` from ``getattr(self.layers, "0")``."""
    owner = ast.unparse(tree.args[0])[5:]
    name = str(ast.literal_eval(tree.args[1]))
    return f"{owner}.{name}" if owner else name


def _unparsed(text: str, known: Collection[str]) -> Call:
    target, _, rest = text.partition("(")
    words = dict.fromkeys(word for word in re.findall(r"\w+", text) if word in known)
    return Call("call_function", target.strip(), (rest.rstrip(") "),), (), tuple(words))
