"""Two lists of nodes made comparable: everything of a node but its name."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphlens.analysis.operator_meaning import functional_meaning, is_lowered, operator_meaning
from graphlens.model import Node

REFERENCE = "\x00"
"""Stands in a text of arguments for a node of the graph."""

_QUOTED_OR_WORD = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[\w.]+")
_WORD = re.compile(r"[\w.]+")
_SYMBOL = re.compile(r"[A-Za-z_]\w*")

Use = tuple[int, int]
"""A node that uses another, and at which of its arguments."""


@dataclass(frozen=True, order=True)
class Facts:
    """What is compared of one node.

    Attributes:
        target: The operator, exactly; of two levels what it means.
        meaning: The operator under any of its names.
        arguments: Text of the arguments, with `REFERENCE` where a node stands.
        value: Shape and dtype of each tensor, or the value that is no tensor.
        module: Path of the innermost module.
        line: The user's line as text; without it torch's number of it.
    """

    target: str
    meaning: str
    arguments: str
    value: tuple[str, ...]
    module: str
    line: str


class Side:
    """One of the two lists; nodes by their number in it."""

    def __init__(self, nodes: Sequence[Node], facts: list[Facts], references: list[list[int]]):
        self.nodes = nodes
        self.facts = facts
        self.references = references
        self.users: list[list[Use]] = [[] for _ in nodes]
        for user, used in enumerate(references):
            for position, node in enumerate(used):
                self.users[node].append((user, position))

    def __len__(self) -> int:
        return len(self.nodes)

    def comes_after(self, other: "Side") -> bool:
        """An order of sides; of two that differ in nodes or wiring one comes after the other."""
        own = (len(self), self.facts, self.references)
        return own > (len(other), other.facts, other.references)


def two_sides(
    before: Sequence[Node],
    after: Sequence[Node],
    bodies_before: Mapping[str, str],
    bodies_after: Mapping[str, str],
) -> tuple[Side, Side, bool]:
    """Both lists, and whether they are of two levels: functions of torch against ATen.

    Args:
        before: The first graph's nodes.
        after: The second's.
        bodies_before: What the bodies of its higher-order operators are, by name.
        bodies_after: The same of the second.
    """
    levels = is_lowered(before) != is_lowered(after)
    symbols = _common_symbols(before, after)
    sides = [
        _side(before, symbols, bodies_before, levels),
        _side(after, symbols, bodies_after, levels),
    ]
    return sides[0], sides[1], levels


def _side(nodes: Sequence[Node], common: set[str], bodies: Mapping[str, str], levels: bool) -> Side:
    number = {node.name: index for index, node in enumerate(nodes)}
    canonical = _canonical(nodes, common)
    facts: list[Facts] = []
    references: list[list[int]] = []
    for index, node in enumerate(nodes):
        arguments, names = _arguments(node)
        used = [number[name] for name in names if number.get(name, index) < index]
        references.append(used)
        facts.append(_facts(node, arguments, canonical, bodies, levels))
    return Side(nodes, facts, references)


def _facts(
    node: Node,
    arguments: str,
    canonical: Callable[[str], str],
    bodies: Mapping[str, str],
    levels: bool,
) -> Facts:
    meaning = functional_meaning(node) if levels else operator_meaning(node)
    target = meaning if levels or node.op in ("placeholder", "output") else node.target
    if node.op == "placeholder":
        arguments = canonical(node.origin) if node.origin != node.target else ""
    elif node.op == "get_attr":
        body = bodies.get(node.target, bodies.get(node.name, ""))
        target = meaning
        arguments = body or ("" if levels else node.target)
    elif levels:
        arguments = ""  # the same argument is written in another way
    line = node.source.code or str(node.source.line) if node.source else ""
    value = tuple(
        f"{canonical(', '.join(map(str, tensor.shape)))} {tensor.dtype}" for tensor in node.tensors
    )
    if not node.tensors and node.value:
        value = (canonical(node.value),)
    if not levels:
        target = f"{node.op} {target}"
    return Facts(target, meaning, arguments, value, node.module, line)


def _arguments(node: Node) -> tuple[str, list[str]]:
    """The arguments as text without names, and the names in the order they stand there."""
    names: list[str] = []
    inputs = set(node.inputs)

    def replaced(found: re.Match[str]) -> str:
        if found[0] not in inputs:
            return found[0]
        names.append(found[0])
        return REFERENCE

    # Only in an output are quotes no string argument of an operator.
    words = _WORD if node.op == "output" else _QUOTED_OR_WORD
    strange = [name for name in inputs if not _WORD.fullmatch(name)]
    if strange:
        longest = sorted(map(re.escape, strange), key=len, reverse=True)
        words = re.compile("|".join((*longest, words.pattern)))
    parts = [words.sub(replaced, text) for text in node.args]
    parts += [f"{key}={words.sub(replaced, text)}" for key, text in node.kwargs]
    # A name that the text does not show, as in a shortened one, is an input all the same.
    shown = set(names)
    names += [name for name in node.inputs if name not in shown]
    return ", ".join(parts), names


def _symbols_of(nodes: Iterable[Node]) -> Iterable[str]:
    for node in nodes:
        for tensor in node.tensors:
            for size in tensor.shape:
                if isinstance(size, str):
                    yield from _SYMBOL.findall(size)
        if node.value and not node.tensors:
            yield from _SYMBOL.findall(node.value)


def _common_symbols(before: Sequence[Node], after: Sequence[Node]) -> set[str]:
    return set(_symbols_of(before)) & set(_symbols_of(after))


def _canonical(nodes: Sequence[Node], common: set[str]) -> Callable[[str], str]:
    """Renames symbolic sizes that only one graph has: by order, as torch numbers them anew."""
    own = dict.fromkeys(name for name in _symbols_of(nodes) if name not in common)
    if not own:
        return str
    new = {name: f"?{number}" for number, name in enumerate(own)}
    return lambda text: _SYMBOL.sub(lambda found: new.get(found[0], found[0]), text)
