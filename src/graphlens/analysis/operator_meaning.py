"""Operators that do the same under the names of different levels."""

from collections.abc import Iterable

from graphlens.analysis.operators import operator_label
from graphlens.model import Node

_PREFIXES = ("aten.", "F.", "Tensor.", "prims.")
# What lowering writes in another way, with the same value.
_ALIASES = {
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "_to_copy": "to",
    "_unsafe_view": "view",
    "concat": "cat",
    "concatenate": "cat",
    "conv1d": "convolution",
    "conv2d": "convolution",
    "conv3d": "convolution",
    "divide": "div",
    "floordiv": "floor_divide",
    "iadd": "add",
    "imul": "mul",
    "isub": "sub",
    "itruediv": "div",
    "multiply": "mul",
    "negative": "neg",
    "subtract": "sub",
    "true_divide": "div",
    "truediv": "div",
}
_LOWERED = "torch.ops."
_HIGHER_ORDER = "torch.ops.higher_order."


def operator_meaning(node: Node) -> str:
    """What an operator does: ``relu`` for ``torch.relu``, ``F.relu`` and ``aten.relu.default``."""
    if node.op == "placeholder":
        return f"placeholder {node.role or 'input'}"
    label = operator_label(node)
    if node.op not in ("call_function", "call_method"):
        return f"{node.op} {label}"
    for prefix in _PREFIXES:
        if label.startswith(prefix):
            label = label[len(prefix) :]
            break
    return _ALIASES.get(label, label)


def functional_meaning(node: Node) -> str:
    """The same, with ``add_`` as ``add``: lowering replaces what writes to its input."""
    meaning = operator_meaning(node)
    if node.op in ("call_function", "call_method") and not meaning.endswith("__"):
        meaning = meaning.rstrip("_") or meaning
    return _ALIASES.get(meaning, meaning)


def is_lowered(nodes: Iterable[Node]) -> bool:
    """Whether most of what is called are operators of ATen, not functions of ``torch``."""
    called = [node.target for node in nodes if node.op in ("call_function", "call_method")]
    named = [t for t in called if not t.startswith(_HIGHER_ORDER) and "operator." not in t]
    return 2 * sum(target.startswith(_LOWERED) for target in named) > len(named)
