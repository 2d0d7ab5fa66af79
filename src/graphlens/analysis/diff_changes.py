"""In what two nodes that are the same one differ, and what stands in the place of what."""

from collections.abc import Sequence

from graphlens.analysis.diagram_text import shape_text
from graphlens.analysis.diff_matching import Matching
from graphlens.analysis.diff_nodes import Side
from graphlens.analysis.operators import operator_label
from graphlens.model import Change, Node, SourceLocation

_LOOKED_AT = 400
"""How many added nodes are gone through from one use; what is behind more is no passage."""
_SHOWN_OUTPUTS = 4

Group = tuple[list[int], list[int]]
"""Nodes of the first graph, and those of the second that stand in their place."""


def replacements(matching: Matching) -> list[Group]:
    """What has no partner, by module and line, where both graphs have some of it there."""
    found: list[Group] = []
    left = [set(side) for side in matching.left()]
    for by_module in (True, False):  # lowering may lose the module, hardly the line
        groups: dict[tuple[object, ...], Group] = {}
        for number, side in enumerate((matching.before, matching.after)):
            for node in sorted(left[number]):
                place = _place(side.nodes[node], by_module)
                if place is not None:
                    groups.setdefault(place, ([], []))[number].append(node)
        for group in groups.values():
            if all(group):
                found.append(group)
                for number in (0, 1):
                    left[number] -= set(group[number])
    return found


def _place(node: Node, by_module: bool) -> tuple[object, ...] | None:
    source: SourceLocation | None = node.source
    if not node.is_operator or (source is None and not (by_module and node.module)):
        return None
    line = (source.file, source.line, source.code) if source else ()
    return (node.module, *line) if by_module else line


class Comparer:
    """Compares pairs of nodes.

    An input that comes through an added node from where it came before is no change of its user:
    what is told is the added node.
    """

    def __init__(self, matching: Matching, groups: Sequence[Group], levels: bool) -> None:
        self._matching = matching
        self._levels = levels
        self._group_before = {node: n for n, group in enumerate(groups) for node in group[0]}
        self._group_after = {node: n for n, group in enumerate(groups) for node in group[1]}
        self._passages: dict[tuple[bool, int], frozenset[int]] = {}

    def changes(self, before: int, after: int) -> tuple[Change, ...]:
        """In what a pair differs."""
        one, other = self._matching.before.nodes[before], self._matching.after.nodes[after]
        own = self._matching.before.facts[before]
        new = self._matching.after.facts[after]
        found: list[Change] = []
        if own.target != new.target:
            found.append(_change("operator", *_operators(one, other)))
        if own.arguments != new.arguments and one.op not in ("placeholder", "get_attr"):
            found.append(_change("arguments", *_different(_arguments(one), _arguments(other))))
        elif not self._are_same_inputs(before, after):
            found.append(_change("inputs", *_inputs(one, other)))
        if own.value != new.value:
            found += _value_changes(one, other)
        return tuple(found)

    def _are_same_inputs(self, before: int, after: int) -> bool:
        own = self._matching.before.references[before]
        new = self._matching.after.references[after]
        if self._levels:  # lowering adds inputs of its own, and saves values at the output
            if self._matching.before.nodes[before].op == "output":
                return len(own) == len(new) and all(map(self._is_same, own, new))
            return all(any(self._is_same(used, use) for use in new) for used in own)
        return len(own) == len(new) and all(map(self._is_same, own, new))

    def _is_same(self, before: int, after: int) -> bool:
        """Whether a value is another one, or comes from where that came from."""
        partner = self._matching.to_after[before]
        if partner == after:
            return True
        group = self._group_before.get(before)
        if group is not None and group == self._group_after.get(after):
            return True
        other = self._matching.to_before[after]
        if partner >= 0 and other >= 0:
            return False
        if partner >= 0:
            return partner in self._behind(after, False)
        if other >= 0:
            return other in self._behind(before, True)
        return True  # one is told to be removed, the other added

    def _behind(self, node: int, of_before: bool) -> frozenset[int]:
        """The nearest nodes with a partner that a node without one is computed from."""
        key = (of_before, node)
        if key not in self._passages:
            matching = self._matching
            if of_before:
                found = _nearest(matching.before, node, matching.to_after)
            else:
                found = _nearest(matching.after, node, matching.to_before)
            self._passages[key] = found
        return self._passages[key]


def _nearest(side: Side, node: int, partners: Sequence[int]) -> frozenset[int]:
    found: set[int] = set()
    seen = {node}
    waiting = [node]
    while waiting and len(seen) < _LOOKED_AT:
        for used in side.references[waiting.pop()]:
            if used in seen:
                continue
            seen.add(used)
            if partners[used] >= 0:
                found.add(used)
            else:
                waiting.append(used)
    return frozenset(found)


def _change(what: str, before: str, after: str) -> Change:
    return Change(what=what, before=before, after=after)


def _operators(before: Node, after: Node) -> tuple[str, str]:
    """By the names people know; by the full ones where those are the same."""
    labels = operator_label(before), operator_label(after)
    return labels if labels[0] != labels[1] else (before.target, after.target)


def _arguments(node: Node) -> list[str]:
    return [*node.args, *(f"{name}={text}" for name, text in node.kwargs)]


def _different(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """What is left without the arguments that are equal at the end; all where nothing is."""
    end = 0
    while end < min(len(before), len(after)) and before[-1 - end] == after[-1 - end]:
        end += 1
    own, new = before[: len(before) - end], after[: len(after) - end]
    start = 0
    while start < min(len(own), len(new)) and own[start] == new[start]:
        start += 1
    return ", ".join(own[start:]) or "none", ", ".join(new[start:]) or "none"


def _inputs(before: Node, after: Node) -> tuple[str, str]:
    own, new = before.inputs, after.inputs
    if before.op == "output" and max(len(own), len(new)) > _SHOWN_OUTPUTS and len(own) != len(new):
        return f"{len(own)} returned", f"{len(new)} returned"
    return ", ".join(own) or "none", ", ".join(new) or "none"


def _value_changes(before: Node, after: Node) -> list[Change]:
    if len(before.tensors) == 1 == len(after.tensors):
        one, other = before.tensors[0], after.tensors[0]
        shapes = shape_text(one.shape), shape_text(other.shape)
        found = [_change("shape", *shapes)] if shapes[0] != shapes[1] else []
        if one.dtype != other.dtype:
            found.append(_change("dtype", one.dtype, other.dtype))
        if found:
            return found
    return [_change("value", _value(before), _value(after))]


def _value(node: Node) -> str:
    if not node.tensors:
        return node.value or "nothing known"
    return ", ".join(f"{shape_text(tensor.shape)} {tensor.dtype}" for tensor in node.tensors)
