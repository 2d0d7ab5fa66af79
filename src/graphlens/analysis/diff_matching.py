"""Which node of one graph is which of another, by structure.

Each node gets two numbers: one says what it is and what it is computed from, up to the inputs;
the other what it is and what is computed from it, down to the outputs. Equal numbers match. A
node that is matched stands for itself from then on, so around a difference the numbers become
equal again, and match more. What a node is, is compared exactly at first, then with ever less:
without its line, its module, its shape, its arguments. Each pass takes time in proportion to the
nodes that are left.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from graphlens.analysis.diff_nodes import Facts, Side
from graphlens.analysis.diff_subsequence import longest_common

_ROUNDS = 12
"""More than any graph needed; each ends where nothing new is matched."""

Signature = Callable[[Facts], Hashable]
_Keys = dict[int, Hashable]
"""Of each node without a partner what it is compared by."""
_Signs = tuple[Mapping[int, Hashable], Mapping[int, Hashable]]
"""The same of both sides: what a node is, without what is around it."""

_STRICTEST: tuple[Signature, ...] = (
    lambda f: (f.target, f.arguments, f.value, f.module, f.line),
    lambda f: (f.target, f.arguments, f.value, f.module),
)
_LOOSER: tuple[Signature, ...] = (
    lambda f: (f.meaning, f.arguments, f.value),
    lambda f: (f.meaning, f.arguments, f.module),
    lambda f: (f.meaning, f.module),
    lambda f: f.meaning,
)


class Matching:
    """Pairs of nodes.

    Attributes:
        before: The first side.
        after: The second.
        to_after: Of each node of the first its partner, or -1.
        to_before: Of each node of the second its partner, or -1.
    """

    def __init__(self, before: Side, after: Side) -> None:
        self.before, self.after = before, after
        self.to_after = [-1] * len(before)
        self.to_before = [-1] * len(after)

    def pair(self, before: int, after: int) -> None:
        """Notes that two nodes are the same one."""
        self.to_after[before], self.to_before[after] = after, before

    def left(self) -> tuple[list[int], list[int]]:
        """The nodes without a partner."""
        return (
            [node for node, partner in enumerate(self.to_after) if partner < 0],
            [node for node, partner in enumerate(self.to_before) if partner < 0],
        )


def matched(before: Side, after: Side, operators_may_differ: bool) -> Matching:
    """Finds the pairs.

    Args:
        before: The first side.
        after: The second.
        operators_may_differ: Whether two different operators in the same place are one changed
            node.
    """
    # Always the same way round, so that the other way round gives the same pairs.
    if before.comes_after(after):
        found = matched(after, before, operators_may_differ)
        found.before, found.after = before, after
        found.to_after, found.to_before = found.to_before, found.to_after
        return found
    matching = Matching(before, after)
    for signature in _STRICTEST:
        signs = _signatures(matching, signature)
        _pair_equal(matching, signs)
        _spread(matching, signs)
    for signature in _STRICTEST:  # what is there once is a foothold between two differences
        if _pair_unique(matching, *_signatures(matching, signature)):
            _spread(matching, _signatures(matching, _STRICTEST[-1]))
    # What cannot be mistaken first, however much it differs; then what can.
    for wired in (False, True):
        for signature in (*_STRICTEST, *_LOOSER):
            _spread(matching, _signatures(matching, signature), wired)
        _pair_places(matching, operators_may_differ)
    _pair_sequences(matching)
    _spread(matching, _signatures(matching, _LOOSER[-1]))
    _pair_places(matching, operators_may_differ)
    return matching


def _spread(matching: Matching, signs: _Signs, wired: bool = False) -> None:
    """Matches by the numbers from above and from below until they give no more.

    Args:
        matching: What is known, and added to.
        signs: What each node is.
        wired: Whether what is there several times is told apart by what it is wired to, and
            then by its order.
    """
    for _ in range(_ROUNDS):
        before, after = matching.left()
        if not before or not after:
            return
        found = _pair_unique(matching, *_numbers(matching, signs, from_above=True))
        found += _pair_unique(matching, *_numbers(matching, signs, from_above=False))
        if wired and not found:
            found += _pair_wired(matching, *_numbers(matching, signs, from_above=True), True)
            found += _pair_wired(matching, *_numbers(matching, signs, from_above=False), False)
        if not found:
            return


def _pair_equal(matching: Matching, signs: _Signs) -> None:
    """Matches what is equal both upwards and downwards, from the inputs on."""
    above = _numbers(matching, signs, from_above=True)
    below = _numbers(matching, signs, from_above=False)
    both: list[_Keys] = [
        {node: (number, downwards[node]) for node, number in upwards.items()}
        for upwards, downwards in zip(above, below, strict=True)
    ]
    _pair_wired(matching, both[0], both[1], True)


def _signatures(matching: Matching, signature: Signature) -> _Signs:
    """The signatures of nodes without a partner, as numbers: those are compared often."""
    known: dict[Hashable, int] = {}
    before, after = matching.left()
    facts = matching.before.facts, matching.after.facts
    return (
        {node: known.setdefault(signature(facts[0][node]), len(known)) for node in before},
        {node: known.setdefault(signature(facts[1][node]), len(known)) for node in after},
    )


def _numbers(matching: Matching, signs: _Signs, from_above: bool) -> tuple[_Keys, _Keys]:
    """Numbers that are equal where a node and all above it, or all below it, are."""
    known: dict[Hashable, int] = {}
    before, after = matching.left()
    # A matched node has the number of its pair, below zero: those of `known` are not.
    anchors = [-1 - node if partner >= 0 else 0 for node, partner in enumerate(matching.to_after)]
    partners = [-1 - partner if partner >= 0 else 0 for partner in matching.to_before]
    return (
        _side_numbers(matching.before, before, anchors, signs[0], known, from_above),
        _side_numbers(matching.after, after, partners, signs[1], known, from_above),
    )


def _side_numbers(
    side: Side,
    left: Sequence[int],
    numbers: list[int],
    signs: Mapping[int, Hashable],
    known: dict[Hashable, int],
    from_above: bool,
) -> _Keys:
    for node in left if from_above else reversed(left):
        around: tuple[Hashable, ...]
        if from_above:
            around = tuple([numbers[used] for used in side.references[node]])
        else:
            around = tuple(sorted([(numbers[user], at) for user, at in side.users[node]]))
        key = (signs[node], around)
        numbers[node] = known.setdefault(key, len(known))
    return {node: numbers[node] for node in left}


def _pair_unique(
    matching: Matching, before: Mapping[int, Hashable], after: Mapping[int, Hashable]
) -> int:
    """Matches nodes whose key no other node of their graph has; returns how many."""
    ones, others = _once(before), _once(after)
    found = 0
    for key, node in ones.items():
        other = others.get(key, -1)
        if node >= 0 and other >= 0:
            matching.pair(node, other)
            found += 1
    return found


def _once(keys: Mapping[int, Hashable]) -> dict[Hashable, int]:
    """The node of each key; -1 where it has several."""
    found: dict[Hashable, int] = {}
    for node, key in keys.items():
        found[key] = -1 if key in found else node
    return found


def _pair_wired(matching: Matching, before: _Keys, after: _Keys, from_above: bool) -> int:
    """Matches, in order, nodes of equal keys whose inputs (or users) are each other's."""
    waiting: dict[Hashable, list[int]] = {}
    for node in sorted(after, reverse=from_above):
        wiring = _wiring(matching.after, node, from_above, None)
        waiting.setdefault((after[node], wiring), []).append(node)
    found = 0
    for node in sorted(before, reverse=not from_above):
        wiring = _wiring(matching.before, node, from_above, matching.to_after)
        others = waiting.get((before[node], wiring))
        if others:
            matching.pair(node, others.pop())
            found += 1
    return found


def _wiring(
    side: Side, node: int, inputs: bool, partners: Sequence[int] | None
) -> tuple[Hashable, ...]:
    """The nodes around one, as nodes of the second side."""
    if inputs:
        used = side.references[node]
        return tuple(used if partners is None else [partners[one] for one in used])
    uses = side.users[node]
    return tuple(sorted(uses if partners is None else [(partners[one], at) for one, at in uses]))


def _pair_sequences(matching: Matching) -> None:
    """Matches the longest common sequence of operators in each module, where it is likely."""
    before, after = matching.left()
    modules: dict[str, tuple[list[int], list[int]]] = {}
    for number, (side, left) in enumerate(((matching.before, before), (matching.after, after))):
        for node in left:
            modules.setdefault(side.facts[node].module, ([], []))[number].append(node)
    for ones, others in modules.values():
        pairs = longest_common(
            [matching.before.facts[node].meaning for node in ones],
            [matching.after.facts[node].meaning for node in others],
        )
        for one, other in [(ones[left], others[right]) for left, right in pairs]:
            if _is_likely(matching, one, other):
                matching.pair(one, other)


def _is_likely(matching: Matching, before: int, after: int) -> bool:
    """Whether more than the operator speaks for two nodes being the same."""
    if matching.before.facts[before].value == matching.after.facts[after].value:
        return True
    own = {matching.to_after[used] for used in matching.before.references[before]}
    users = {matching.to_after[user] for user, _ in matching.before.users[before]}
    return not own.isdisjoint(matching.after.references[after]) or not users.isdisjoint(
        user for user, _ in matching.after.users[after]
    )


def _pair_places(matching: Matching, operators_may_differ: bool) -> None:
    """Matches operators that have the same inputs and the same users."""
    before, after = matching.left()

    def keys(side: Side, left: Iterable[int], partners: Sequence[int] | None) -> _Keys:
        found: _Keys = {}
        for node in left:
            around = (_wiring(side, node, True, partners), _wiring(side, node, False, partners))
            if side.nodes[node].is_operator and any(around):
                operator = "" if operators_may_differ else side.facts[node].meaning
                found[node] = (operator, *around)
        return found

    _pair_unique(
        matching,
        keys(matching.before, before, matching.to_after),
        keys(matching.after, after, None),
    )
