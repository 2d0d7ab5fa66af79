"""Operators by the names people know them by."""

from graphlens.model import Node

_PREFIXES = (
    ("torch.ops.higher_order.", ""),
    ("torch.ops.", ""),
    ("torch.nn.functional.", "F."),
    ("torch._C._nn.", "F."),
    ("torch.", ""),
    ("_operator.", ""),
    ("operator.", ""),
    ("builtins.", ""),
)


def operator_label(node: Node) -> str:
    """The operator of a node as a person would write it.

    ``torch.ops.aten.add.Tensor`` is ``aten.add``, ``torch.nn.functional.relu`` is ``F.relu``,
    ``torch.conv2d`` is ``conv2d``, the method ``sum`` is ``Tensor.sum``, and a module call is
    named by its class.
    """
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    if node.op == "call_module":
        return node.modules[-1].type.rpartition(".")[2] if node.modules else node.target
    if node.op != "call_function":
        return node.op
    for prefix, instead in _PREFIXES:
        if node.target.startswith(prefix):
            rest = node.target[len(prefix) :]
            return instead + (_without_overload(rest) if prefix == "torch.ops." else rest)
    return node.target


def _without_overload(name: str) -> str:
    namespace_and_name = name.split(".")[:2]
    return ".".join(namespace_and_name)
