"""Symbolic sizes of a graph, with the values they had and where they come from."""

import re
from collections.abc import Iterable, Sequence

from graphlens.model import Node, Symbol, TraceRecord, Unavailable

_NAME = re.compile(r"\b(?:s|u|zf|zuf|i)\d+\b")
_NO_HINT = Unavailable("the size depends on the data")


def symbols_in(nodes: Iterable[Node], records: Sequence[TraceRecord]) -> tuple[Symbol, ...]:
    """The symbols that stand in the shapes and values of nodes, by name.

    Args:
        nodes: Of one graph.
        records: Of the graph's compilation; ``create_symbol`` has value and origin.
    """
    texts = [
        str(size)
        for node in nodes
        for tensor in node.tensors
        for size in (*tensor.shape, *(tensor.stride or ()))
        if isinstance(size, str)
    ]
    texts += [node.value for node in nodes if node.value.startswith("Sym(")]
    names = sorted({name for text in texts for name in _NAME.findall(text)}, key=_natural)
    created = {
        str(record.data.get("symbol")): record.data
        for record in records
        if record.kind == "create_symbol"
    }
    return tuple(_symbol(name, created.get(name)) for name in names)


def _symbol(name: str, data: dict[str, object] | None) -> Symbol:
    if data is None:
        return Symbol(name=name, hint=_NO_HINT)
    return Symbol(name=name, hint=_hint(str(data.get("val"))), origin=str(data.get("source", "")))


def _hint(text: str) -> int | float | Unavailable:
    if text.lstrip("-").isdigit():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return Unavailable(f"torch gave {text}")


def _natural(name: str) -> tuple[str, int]:
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :])
