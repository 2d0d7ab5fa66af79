"""Which row each part of a block goes to."""

from collections.abc import Sequence

from graphlens.analysis.layout_data import OUTSIDE, Part, Wire

WIDEST_ROW = 1500
PART_GAP = 20


def ranks(parts: Sequence[Part], wires: Sequence[Wire]) -> list[int]:
    """Rows by longest path, none wider than it must be; a wire always leads to a later row.

    Args:
        parts: In topological order.
        wires: Between them.
    """
    inputs: list[list[int]] = [[] for _ in parts]
    users: list[list[int]] = [[] for _ in parts]
    fed = [False] * len(parts)
    for wire in wires:
        for target in wire.targets:
            if wire.source == OUTSIDE:
                fed[target] = True
            else:
                inputs[target].append(wire.source)
                users[wire.source].append(target)
    widest = max(WIDEST_ROW, max((part.width for part in parts), default=0))
    rows = _Rows(widest)
    rank = [0] * len(parts)
    for number, part in enumerate(parts):
        earliest = 1 + max((rank[source] for source in inputs[number]), default=-1)
        rank[number] = rows.first_with_room(earliest, part.width)
    # What nothing feeds goes down to its first user, or a line to it crosses all rows between.
    hangs: list[bool] = []
    for number, sources in enumerate(inputs):
        hangs.append(not fed[number] and len(sources) <= 1 and all(hangs[s] for s in sources))
    for number in range(len(parts) - 1, -1, -1):
        if hangs[number] and users[number]:
            lowest = min(rank[user] for user in users[number]) - 1
            rank[number] = rows.move(rank[number], lowest, parts[number].width)
    lowest = max(rank, default=0)
    rank = [lowest + 1 if part.is_last else row for part, row in zip(parts, rank, strict=True)]
    return _without_gaps(rank)


class _Rows:
    """How much of each row is taken."""

    def __init__(self, widest: int) -> None:
        self._widest = widest
        self._taken: list[int] = []
        self._next: list[int] = []

    def first_with_room(self, row: int, width: int) -> int:
        """Takes room in the first row from this one on that has it."""
        row = self._open(row)
        while self._taken[row] and self._taken[row] + width > self._widest:
            row = self._open(row + 1)
        self._take(row, width)
        return row

    def move(self, row: int, to: int, width: int) -> int:
        """Moves a part down, unless that row is full; returns where it is then."""
        if to <= row or self._taken[to] + width > self._widest:
            return row
        self._taken[row] -= width + PART_GAP
        self._take(to, width)
        return to

    def _take(self, row: int, width: int) -> None:
        self._taken[row] += width + PART_GAP
        if self._taken[row] * 10 > self._widest * 9:
            self._next[row] = row + 1  # as good as full: not looked at again

    def _open(self, row: int) -> int:
        while len(self._next) <= row:
            self._next.append(len(self._next))
            self._taken.append(0)
        passed = []
        while self._next[row] != row:
            passed.append(row)
            row = self._next[row]
            if row == len(self._next):
                self._next.append(row)
                self._taken.append(0)
        for skipped in passed:
            self._next[skipped] = row
        return row


def _without_gaps(rank: list[int]) -> list[int]:
    number = {row: index for index, row in enumerate(sorted(set(rank)))}
    return [number[row] for row in rank]
