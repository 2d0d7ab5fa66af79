"""One call of a kernel: the user's lines, the nodes each line led to, and the generated source."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from graphlens.analysis.kernel_lookup import KernelCall
from graphlens.analysis.kernel_source import Pointer, SourceLine, pointers, source_lines
from graphlens.analysis.kernels import nodes_of
from graphlens.model import Node, SourceLocation


class LineNodes(NamedTuple):
    """A line of the program with the nodes of a kernel that came from it.

    Attributes:
        mark: A letter that stands for it beside the source.
        place: The line; None for nodes whose line is not known.
        called_from: The user's own line, where that one is in a library; of the first node.
        nodes: In the graph's order.
    """

    mark: str
    place: SourceLocation | None
    called_from: SourceLocation | None
    nodes: tuple[Node, ...]


class SideBySide(NamedTuple):
    """What is shown of a call.

    Attributes:
        call: The call.
        lines: With their nodes, in the order in which the kernel's nodes need them.
        source: Of the kernel, with what each line loads and stores.
        pointers: By name in the source, the tensor it stands for in this call.
        marks: By node, the letter of its line.
        nodes: Of the graph, by name.
    """

    call: KernelCall
    lines: tuple[LineNodes, ...]
    source: tuple[SourceLine, ...]
    pointers: Mapping[str, Pointer]
    marks: Mapping[str, str]
    nodes: Mapping[str, Node]


def side_by_side(call: KernelCall) -> SideBySide:
    """Arranges what is known of a call."""
    wanted = set(nodes_of(call.kernel))
    lines = tuple(_by_line([node for node in call.graph.nodes if node.name in wanted]))
    return SideBySide(
        call=call,
        lines=lines,
        source=tuple(source_lines(call.kernel, call.graph.output_code)),
        pointers=pointers(call.kernel),
        marks=_marks(call.graph.nodes, lines),
        nodes={node.name: node for node in call.graph.nodes},
    )


def by_origin(nodes: Sequence[Node]) -> list[tuple[tuple[str, ...], list[Node]]]:
    """Nodes in order, those together that follow each other and came from the same Dynamo node."""
    found: list[tuple[tuple[str, ...], list[Node]]] = []
    for node in nodes:
        if not found or found[-1][0] != node.came_from:
            found.append((node.came_from, []))
        found[-1][1].append(node)
    return found


def _marks(nodes: Sequence[Node], lines: Sequence[LineNodes]) -> dict[str, str]:
    """By node the letter of its line; one of several results has that of its operator."""
    marks = {node.name: line.mark for line in lines for node in line.nodes}
    for node in nodes:
        if node.target.endswith("operator.getitem") and node.inputs[:1] and node.inputs[0] in marks:
            marks.setdefault(node.name, marks[node.inputs[0]])
    return marks


def _by_line(nodes: Sequence[Node]) -> Iterator[LineNodes]:
    lines: dict[SourceLocation | None, list[Node]] = {}
    for node in nodes:
        lines.setdefault(node.source, []).append(node)
    for number, (place, those) in enumerate(lines.items()):
        yield LineNodes(_letters(number), place, those[0].called_from, tuple(those))


def _letters(number: int) -> str:
    """``A`` to ``Z``, then ``AA``: as the columns of a spreadsheet."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
