"""A graph's nodes as rows of text cells: what every table format starts from."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphlens.analysis.operators import operator_label
from graphlens.model import Dim, Node, TensorSpec
from graphlens.renderers.escape import one_line
from graphlens.renderers.wording import location_text, state_name

NUMBER, NAME, OPERATOR, ARGUMENTS = "#", "name", "operator", "arguments"
SHAPE, DTYPE, STRIDE, DEVICE = "shape", "dtype", "stride", "device"
MODULE, LINE, KERNEL = "module", "line", "kernel"

COLUMNS = (NUMBER, NAME, OPERATOR, ARGUMENTS, SHAPE, DTYPE, STRIDE, DEVICE, MODULE, LINE, KERNEL)
MOST_INPUTS = 8
MOST_TENSORS = 3
_NO_KERNELS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        cells: Text by column name; a column without text is absent.
        kind: ``operator``, ``input``, ``output`` or ``more`` (a line that stands for rows that
            are left out; its text is in the operator column).
        contiguous: Whether every tensor of the row is laid out without gaps, last dimension
            innermost; None where no stride is known.
    """

    cells: dict[str, str] = field(default_factory=dict)
    kind: str = "operator"
    contiguous: bool | None = None


def graph_rows(
    nodes: Sequence[Node],
    root: str = "",
    rows: int | None = None,
    everything: bool = False,
    kernels: Mapping[str, str] = _NO_KERNELS,
) -> list[Row]:
    """The nodes as rows: inputs, operators, output.

    Parameters, buffers and symbolic sizes get no row (the title counts them, the line of sizes
    explains them): a model has hundreds and they would hide what is computed.

    Args:
        nodes: In topological order.
        root: Files below this folder are named relative to it.
        rows: Most operators shown; the middle is left out. None for all.
        everything: A row for every node, arguments and names as they are in the graph.
        kernels: What is said of the kernels that compute a node, by its name.
    """
    if everything:
        return [_row(node, root, {}, None, kernels) for node in _numbered(nodes)]
    known = {n.name: state_name(n) for n in nodes if n.role in ("parameter", "buffer")}
    most = None if rows is None else MOST_TENSORS

    def convert(numbered: Iterable[tuple[int, Node]]) -> list[Row]:
        return [_row(pair, root, known, most, kernels) for pair in numbered]

    numbered = list(_numbered(nodes))
    inputs = [pair for pair in numbered if _is_shown_input(pair[1])]
    operators = [pair for pair in numbered if pair[1].is_operator]
    outputs = [pair for pair in numbered if pair[1].op == "output"]
    return [
        *_some(inputs, None if rows is None else MOST_INPUTS, convert, "inputs"),
        *_some(operators, rows, convert, "rows"),
        *convert(outputs),
    ]


def _some(
    numbered: list[tuple[int, Node]],
    most: int | None,
    convert: Callable[[Iterable[tuple[int, Node]]], list[Row]],
    noun: str,
) -> list[Row]:
    """All rows, or the first and last with a line in the middle that counts the rest."""
    # Leaving out a single row would put a line about it in its place: nothing gained.
    if most is None or len(numbered) <= most + 1:
        return convert(numbered)
    first = (most + 1) // 2
    last = len(numbered) - most // 2
    text = f'... {last - first:,} more {noun}: options={{"graphlens.rows": None}}'
    left_out = Row({OPERATOR: text}, kind="more")
    return [*convert(numbered[:first]), left_out, *convert(numbered[last:])]


def _numbered(nodes: Sequence[Node]) -> Iterable[tuple[int, Node]]:
    """Operators with their number, from 1; other nodes with 0."""
    count = 0
    for node in nodes:
        count += node.is_operator
        yield (count if node.is_operator else 0), node


def _is_shown_input(node: Node) -> bool:
    return node.op == "placeholder" and node.role not in ("parameter", "buffer", "symbol")


def _row(
    pair: tuple[int, Node],
    root: str,
    known: dict[str, str],
    most: int | None,
    kernels: Mapping[str, str],
) -> Row:
    number, node = pair
    kinds = {"placeholder": "input", "output": "output"}
    cells = {
        NUMBER: str(number or ""),
        NAME: "" if node.op == "output" else node.name,
        OPERATOR: _operator(node),
        ARGUMENTS: _arguments(node, known),
        SHAPE: tensors_text(node.tensors, lambda t: sizes_text(t.shape), most) or node.value,
        DTYPE: _same(node.tensors, lambda t: t.dtype, most),
        STRIDE: tensors_text(node.tensors, _stride, most),
        DEVICE: _same(node.tensors, lambda t: t.device, most),
        MODULE: node.module,
        LINE: location_text(node.source, root),
        KERNEL: kernels.get(node.name, ""),
    }
    shown = {name: one_line(text) for name, text in cells.items() if text}
    return Row(shown, kinds.get(node.op, "operator"), _all_contiguous(node.tensors))


def _operator(node: Node) -> str:
    return node.role or "input" if node.op == "placeholder" else operator_label(node)


def _arguments(node: Node, known: dict[str, str]) -> str:
    if node.op == "placeholder":
        # An origin that only repeats the name in other letters says nothing.
        return "" if node.origin.strip("_").lower() == node.name.strip("_").lower() else node.origin
    if node.op == "get_attr":
        return node.target
    text = ", ".join([*node.args, *(f"{name}={value}" for name, value in node.kwargs)])
    if not known:
        return text
    return re.sub(r"[A-Za-z_]\w*", lambda match: known.get(match[0], match[0]), text)


def sizes_text(sizes: Sequence[Dim]) -> str:
    """A shape or stride as ``[8, s0]``."""
    return f"[{', '.join(map(str, sizes))}]"


def _stride(tensor: TensorSpec) -> str:
    return "" if tensor.stride is None else sizes_text(tensor.stride)


def tensors_text(
    tensors: Sequence[TensorSpec], text: Callable[[TensorSpec], str], most: int | None
) -> str:
    """One text a tensor; beyond ``most`` tensors the rest is counted."""
    texts = [text(tensor) for tensor in tensors]
    if not any(texts):
        return ""
    if most is not None and len(texts) > most + 1:
        texts[most:] = [f"… {len(texts) - most} more"]
    return ", ".join(text or "-" for text in texts)


def _same(
    tensors: Sequence[TensorSpec], text: Callable[[TensorSpec], str], most: int | None
) -> str:
    """The text once where all tensors agree, else one a tensor."""
    texts = [text(tensor) for tensor in tensors]
    return texts[0] if len(set(texts)) == 1 else tensors_text(tensors, text, most)


def _all_contiguous(tensors: Sequence[TensorSpec]) -> bool | None:
    known = [tensor for tensor in tensors if tensor.stride is not None]
    return all(map(is_contiguous, known)) if known else None


def is_contiguous(tensor: TensorSpec) -> bool:
    """Whether the stride is the one a new tensor of that shape gets.

    A dimension of size 1 may have any stride. Symbolic products count as equal when their factors
    are; anything more involved counts as not contiguous, which shows the stride.
    """
    if tensor.stride is None or len(tensor.stride) != len(tensor.shape):
        return False
    number, names = 1, tuple[str, ...]()
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride), strict=True):
        if size != 1 and _factors(stride) != (number, names):
            return False
        size_number, size_names = _factors(size)
        number, names = number * size_number, tuple(sorted(names + size_names))
    return True


def _factors(size: Dim) -> tuple[int, tuple[str, ...]]:
    """A product as its number and its symbols: ``8*s0`` is (8, ("s0",))."""
    if isinstance(size, int):
        return size, ()
    number, names = 1, []
    for factor in size.replace(" ", "").split("*"):
        if factor.isdecimal():
            number *= int(factor)
        else:
            names.append(factor)
    return number, tuple(sorted(names))
