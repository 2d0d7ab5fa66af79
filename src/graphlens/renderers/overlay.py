"""What boxes are coloured by instead of the kind of work: memory, accuracy, kernels, time, numbers.

Each box gets a row that says its number or verdict in words, so colour is never alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from graphlens.analysis.diagram_data import Box, Diagram, Row
from graphlens.analysis.tensor_bytes import tensor_bytes
from graphlens.errors import UsageError
from graphlens.model import Accuracy, Divergence, Graph, Unavailable
from graphlens.renderers.kernel_colours import kernel_words
from graphlens.renderers.kernel_labels import kernel_seconds
from graphlens.renderers.measures import duration, size_of_memory
from graphlens.renderers.wording import counted

FAMILY, MEMORY, ACCURACY = "family", "memory", "accuracy"
KERNEL, TIME = "kernel", "time"
COLOURS = (FAMILY, MEMORY, ACCURACY, KERNEL, TIME)
LEVELS = 5

Colour = str | Mapping[str, float]


@dataclass(frozen=True)
class Overlay:
    """Numbers or words of nodes.

    Attributes:
        name: What the legend says is shown.
        numbers: By node name; colours go by them.
        words: By node name, instead of numbers: what is said, all in the strongest colour.
        text: How a number is written.
        levels: By node name, the colour of words where it is not the strongest.
        most_words: What the legend says of words.
        shared: By node name, where a number is of what several nodes share, such as a kernel:
            which these are, so that a box counts each once.
    """

    name: str
    numbers: Mapping[str, float]
    words: Mapping[str, str]
    text: Callable[[float], str] = "{:.3g}".format
    levels: Mapping[str, int] = field(default_factory=dict)
    most_words: str = "what the rows in bold say"
    shared: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def of_box(self, box: Box) -> float | None:
        """The number of a box: of one, where it stands for several; None where there is none."""
        if self.shared:
            each = {k: v for name in box.nodes for k, v in self.shared.get(name, {}).items()}
            return sum(each.values()) / box.count if each else None
        numbers = [self.numbers[name] for name in box.nodes if name in self.numbers]
        return sum(numbers) / box.count if numbers else None

    def most(self, parts: Sequence[Diagram]) -> float:
        """The largest number of a box."""
        found = (self.of_box(box) for part in parts for box in part.boxes)
        return max((number for number in found if number is not None), default=0.0)

    def upto(self, parts: Sequence[Diagram]) -> str:
        """What the legend says of the strongest colour."""
        if self.words:
            return self.most_words
        return f"up to {self.text(self.most(parts))}" if self.numbers else "nothing is known"


def overlay(graph: Graph, colour: Colour) -> Overlay | None:
    """What is shown of a graph; None for the kind of work.

    Args:
        graph: Whose nodes are coloured.
        colour: ``family``, ``memory``, ``accuracy``, ``kernel``, ``time``, or numbers by node
            name.
    """
    check_colour(colour)
    if isinstance(colour, Mapping):
        return Overlay("your numbers", _checked(colour), {})
    if colour == FAMILY:
        return None
    if colour == MEMORY:
        return Overlay("size of the result", _memory(graph), {}, _bytes)
    if colour == KERNEL:
        words, levels = kernel_words(graph)
        count = 0 if isinstance(graph.kernels, Unavailable) else len(graph.kernels)
        return Overlay("kernel", {}, words, levels=levels, most_words=counted(count, "kernel"))
    if colour == TIME:
        times = kernel_seconds(graph)
        numbers = {name: sum(of.values()) for name, of in times.items()}
        return Overlay("time of the whole kernel", numbers, {}, duration, shared=times)
    return Overlay("accuracy", {}, _accuracy(graph))


def check_colour(colour: Colour) -> None:
    """Raises for what `overlay` does not know, before any work is done."""
    if isinstance(colour, Mapping):
        _checked(colour)
    elif colour not in COLOURS:
        names = ", ".join(map(repr, COLOURS))
        raise UsageError(f"colour={colour!r}: give {names}, or a dict of numbers by node name.")


def _checked(numbers: Mapping[str, float]) -> dict[str, float]:
    for name, number in numbers.items():
        if not isinstance(number, (int, float)) or not 0 <= number < float("inf"):
            raise UsageError(f"colour[{name!r}] is {number!r}; give numbers from 0 on.")
    return {name: float(number) for name, number in numbers.items()}


def _memory(graph: Graph) -> dict[str, float]:
    bodies = [node for body in graph.subgraphs for node in body.nodes]
    found = {}
    for node in (*graph.nodes, *bodies):
        sizes = [tensor_bytes(tensor) for tensor in node.tensors]
        if node.is_operator and sizes and None not in sizes:
            found[node.name] = float(sum(size or 0 for size in sizes))
    return found


def _accuracy(graph: Graph) -> dict[str, str]:
    if not isinstance(graph.accuracy, Accuracy):
        return {}
    words = {cast.node: f"rounding to {cast.dtype} {cast.change}" for cast in graph.accuracy.casts}
    first = graph.accuracy.first_divergence
    if isinstance(first, Divergence):
        words.setdefault(first.node, f"first wrong {_part(first)}")
    return words


def _bytes(number: float) -> str:
    return size_of_memory(round(number))


def _part(first: Divergence) -> str:
    return "gradient" if first.part == "backward" else "value"


def overlaid(parts: Sequence[Diagram], shown: Overlay) -> list[Diagram]:
    """The diagrams with a level of heat and a row of text in the boxes that it is about."""
    most = shown.most(parts)
    return [
        msgspec.structs.replace(part, boxes=tuple(_box(box, shown, most) for box in part.boxes))
        for part in parts
    ]


def _box(box: Box, shown: Overlay, most: float) -> Box:
    named = [name for name in box.nodes if name in shown.words]
    each = shown.of_box(box)
    if named:
        words = dict.fromkeys(shown.words[name] for name in named)
        more = f" and {len(words) - 1} more" if shown.levels and len(words) > 1 else ""
        return _marked(box, shown.levels.get(named[0], LEVELS), shown.words[named[0]] + more)
    if each is None:
        return msgspec.structs.replace(box, heat=0)
    total = f" each, {shown.text(each * box.count)}" if box.count > 1 else ""
    level = max(1, math.ceil(LEVELS * each / most)) if most else 1
    return _marked(box, min(level, LEVELS), f"{shown.text(each)}{total}")


def _marked(box: Box, heat: int, text: str) -> Box:
    return msgspec.structs.replace(box, rows=(*box.rows, Row(kind="mark", text=text)), heat=heat)
