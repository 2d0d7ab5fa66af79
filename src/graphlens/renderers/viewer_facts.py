"""Facts of nodes by column, for the viewer: everything that is the same is written once."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphlens.analysis.diagram_text import shape_text
from graphlens.analysis.operators import operator_label
from graphlens.analysis.tensor_bytes import tensor_bytes
from graphlens.analysis.text_width import visible
from graphlens.model import Node, SourceLocation, TensorSpec

MARK = "\x00"
"""Around the number of an input in the text of arguments; no other text has it."""
_LONGEST = 2000
_WORD = re.compile(r"[A-Za-z_]\w*")
_CODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


class Strings:
    """Texts by number; each once, without control characters, and not endless."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._known: dict[str, int] = {"": 0}

    def __getitem__(self, text: str) -> int:
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self.all)
            self.all.append(cut(text))
        return number

    def marked(self, text: str) -> int:
        """The number of a text that was made safe before and has marks."""
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self.all)
            self.all.append(text)
        return number


def cut(text: str) -> str:
    """The text as it can be shown."""
    text = visible(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


@dataclass
class _Table:
    """Rows that several nodes have."""

    rows: list[list[Any]] = field(default_factory=list)
    known: dict[Hashable, int] = field(default_factory=dict)

    def number(self, key: Hashable, row: Callable[[], list[Any]]) -> int:
        if key not in self.known:
            self.known[key] = len(self.rows)
            self.rows.append(row())
        return self.known[key]


@dataclass
class Facts:
    """Makes the columns of one picture's nodes; ``payload.js`` reads them."""

    strings: Strings
    number: Mapping[str, int]
    tensors: _Table = field(default_factory=_Table)
    places: _Table = field(default_factory=_Table)
    modules: _Table = field(default_factory=_Table)

    def columns(self, nodes: Sequence[Node]) -> dict[str, Any]:
        """Of each fact a list with an entry a node, and the tables they point into."""
        s = self.strings
        return {
            "name": [cut(node.name) for node in nodes],
            "op": [_CODES.index(node.op) if node.op in _CODES else 2 for node in nodes],
            "target": [s[node.target] for node in nodes],
            "label": [s[operator_label(node)] for node in nodes],
            "args": [self._arguments(node) for node in nodes],
            "inputs": [self._inputs(place, node) for place, node in enumerate(nodes)],
            "value": [s[node.value] for node in nodes],
            "role": [s[node.role] for node in nodes],
            "origin": [s[node.origin] for node in nodes],
            "tensors": [[self._tensor(tensor) for tensor in node.tensors] for node in nodes],
            "place": [self._place(node.source) for node in nodes],
            "caller": [self._place(node.called_from) for node in nodes],
            "module": [self._module(node) for node in nodes],
            "tensor_table": self.tensors.rows,
            "place_table": self.places.rows,
            "module_table": self.modules.rows,
        }

    def _inputs(self, place: int, node: Node) -> list[int]:
        """How far back each input is: the same numbers in every equal block."""
        return [place - self.number[name] for name in node.inputs if name in self.number]

    def _arguments(self, node: Node) -> int:
        """The arguments, with the number of the input in the place of its name."""
        parts = [*node.args, *(f"{name}={text}" for name, text in node.kwargs)]
        if not parts:
            return 0
        known = [name for name in node.inputs if name in self.number]
        numbers = {name: str(place) for place, name in enumerate(known)}

        def marked(found: re.Match[str]) -> str:
            number = numbers.get(found[0])
            return found[0] if number is None else f"{MARK}{number}{MARK}"

        text = cut(", ".join(parts))
        return self.strings.marked(_WORD.sub(marked, text))

    def _tensor(self, tensor: TensorSpec) -> int:
        s = self.strings
        return self.tensors.number(
            tensor,
            lambda: [
                s[shape_text(tensor.shape)],
                s[tensor.dtype],
                s["" if tensor.stride is None else f"({', '.join(map(str, tensor.stride))})"],
                s[tensor.device],
                tensor_bytes(tensor),
            ],
        )

    def _place(self, place: SourceLocation | None) -> int:
        if place is None:
            return -1
        s = self.strings
        return self.places.number(
            place, lambda: [s[place.file], place.line, s[place.function], s[place.code]]
        )

    def _module(self, node: Node) -> int:
        if not node.modules:
            return -1
        s = self.strings
        inner = node.modules[-1]
        return self.modules.number((inner.path, inner.type), lambda: [s[inner.path], s[inner.type]])
