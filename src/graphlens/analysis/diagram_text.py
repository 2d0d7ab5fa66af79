"""The texts of a diagram: shapes, places and tooltips in the form people read them."""

import re
from collections.abc import Iterable

from graphlens.analysis.text_width import shorten, shorten_middle
from graphlens.model import Graph, Node, SourceLocation, TensorSpec

_DTYPES = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}
_DTYPE = re.compile(r"^(float|int|uint|complex|bfloat)(\d.*)$")
_WORD = re.compile(r"\w+")
_USER_NAME = re.compile(r"^L\['(\w+)'\](.*)$")
_LONGEST_DETAIL = 80
_LONGEST_NAME = 44
_LONGEST_ROW = 26
TIMES = "×"
_BODY = "body"


def dtype_text(dtype: str) -> str:
    """``float32`` as ``f32``, ``bfloat16`` as ``bf16``, ``float8_e4m3fn`` as ``f8e4m3fn``."""
    found = _DTYPE.match(dtype)
    return _DTYPES[found[1]] + found[2].replace("_", "") if found else dtype


def shape_text(shape: Iterable[int | str]) -> str:
    """``8×64``; expressions of several terms in brackets; ``scalar`` without dimensions."""
    sizes = [str(size) for size in shape]
    return TIMES.join(s if s.isalnum() else f"({s})" for s in sizes) if sizes else "scalar"


def tensor_text(tensor: TensorSpec) -> str:
    """``8×64×112×112 f32``."""
    return shorten(f"{shape_text(tensor.shape)} {dtype_text(tensor.dtype)}", _LONGEST_NAME)


def value_text(node: Node) -> str:
    """The node's value in one line: a tensor, the first of several, or another value."""
    if node.tensors:
        more = len(node.tensors) - 1
        return tensor_text(node.tensors[0]) + (f" and {more} more" if more else "")
    return shorten(node.value, _LONGEST_NAME)


def state_name(node: Node) -> str:
    """A parameter or buffer by the last part of its name: ``weight``."""
    words = _WORD.findall(node.origin or node.target or node.name)
    return shorten_middle(words[-1] if words else node.name, _LONGEST_NAME)


def state_shape(node: Node) -> str:
    """Shape of a parameter or buffer, or what else it is."""
    if node.shape is not None:
        return shorten(shape_text(node.shape), _LONGEST_NAME)
    return _BODY if node.role in ("", "subgraph") else ""


def state_texts(states: Iterable[tuple[Node, str]]) -> list[str]:
    """Parameters and buffers, those of one shape together: ``weight, bias 64``.

    Args:
        states: Each with a note, such as ``transposed``.
    """
    groups: dict[str, list[list[str]]] = {}
    for node, note in states:
        lines = groups.setdefault(f"{state_shape(node)} {note}".strip(), [[]])
        name = state_name(node)
        if sum(map(len, lines[-1])) + len(name) > _LONGEST_ROW and lines[-1]:
            lines.append([])
        lines[-1].append(name)
    return [
        f"body {', '.join(names)}" if ending == _BODY else f"{', '.join(names)} {ending}".rstrip()
        for ending, lines in groups.items()
        for names in lines
    ]


def input_text(node: Node) -> str:
    """What a placeholder stands for, in the user's terms where torch recorded them."""
    found = _USER_NAME.match(node.origin)
    return shorten_middle(found[1] + found[2] if found else node.origin or node.name, _LONGEST_NAME)


def place_text(location: SourceLocation | None) -> str:
    """``file.py:12``, without folders."""
    if location is None:
        return ""
    name = location.file.replace("\\", "/").rpartition("/")[2]
    return f"{shorten_middle(name, _LONGEST_NAME)}:{location.line}" if location.line else name


def title_text(graph: Graph, operators: int, subgraph: str = "") -> str:
    """``0/1 dynamo · forward (model.py:12) · 69 operators``."""
    where = place_text(graph.source)
    function = (
        f"{graph.function} ({where})" if graph.function and where else graph.function or where
    )
    parts = [f"{graph.compile_id} {graph.stage}", function, f"body {subgraph}" if subgraph else ""]
    parts.append(f"{operators} operator{'' if operators == 1 else 's'}")
    return " · ".join(shorten_middle(part, 80) for part in parts if part)


def detail_lines(node: Node) -> list[str]:
    """What a tooltip says of a node: what it calls, and the line that made it.

    A picture has hundreds of them, so they are short; all that is known is in the report.
    """
    arguments = list(node.args) + [f"{name}={text}" for name, text in node.kwargs]
    target = node.target.removeprefix("torch.ops.")
    called = f"{target}({', '.join(arguments)})" if node.is_operator else target
    lines = [f"{node.name}: {called}"]
    if node.role or node.origin:
        lines.append(" ".join(part for part in (node.role, node.origin) if part))
    if len(node.tensors) > 1:
        lines.append(", ".join(map(tensor_text, node.tensors)))
    if node.source and node.source.code:
        lines.append(node.source.code)
    return [shorten(line, _LONGEST_DETAIL) for line in lines]


def brief_line(node: Node) -> str:
    """What a tooltip says of a node that is but a row in the box."""
    tensors = ", ".join(tensor_text(tensor) for tensor in node.tensors)
    parts = [f"{node.name}:", node.origin or node.target, tensors]
    return shorten(" ".join(part for part in parts if part), _LONGEST_DETAIL)
