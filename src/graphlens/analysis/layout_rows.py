"""The order and the x of everything in the rows of one block.

Between the rows of parts a line is held by bends, one in each row it crosses, shared by all uses
of its value. Rows are swept down and up; in each, items go where the items they hang on are, as
near as their order and their widths allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphlens.analysis.layout_data import OUTSIDE, Part, Wire
from graphlens.analysis.spread import spread

PART, BEND, IN, OUT, TAG_IN, TAG_OUT = range(6)
TAG_HEIGHT = 16
_LONGEST_LINE = 40
_BENDS_PER_PART = 5
_MARGIN = {PART: 10, BEND: 6, IN: 7, OUT: 7, TAG_IN: 6, TAG_OUT: 6}
_SWEEPS = 5
_SETTLING = 3
_STRAIGHT = 10_000
_STEP = 60
_HOMING = 1
_HOMING_WIDTH = 20
_WIDE = 400


@dataclass
class Link:
    """A piece of a line from an item of one row to an item of the next."""

    source: int
    target: int
    value: int
    source_offset: int = 0
    target_offset: int = 0


@dataclass
class Rows:
    """Items in rows. The first row is where values enter, the last where they leave."""

    parts: Sequence[Part]
    kind: list[int] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    width: list[int] = field(default_factory=list)
    height: list[int] = field(default_factory=list)
    x: list[int] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    up: list[list[Link]] = field(default_factory=list)
    down: list[list[Link]] = field(default_factory=list)

    def add(self, row: int, kind: int, of: int, width: int = 0, height: int = 0) -> int:
        """A new item at the end of a row; its kind says what ``of`` counts: a part or a value."""
        item = len(self.kind)
        self.kind.append(kind)
        self.of.append(of)
        self.width.append(width)
        self.height.append(height)
        self.x.append(0)
        self.up.append([])
        self.down.append([])
        self.rows[row].append(item)
        return item

    def is_box(self, item: int) -> bool:
        """Whether an item is a box: no block, no line, no tag."""
        return self.kind[item] == PART and self.parts[self.of[item]].is_box

    def link(self, source: int, target: int, value: int) -> None:
        """Connects two items; the offsets say where on a block the line is."""
        link = Link(source, target, value)
        if self.kind[source] == PART and not self.is_box(source):
            part = self.parts[self.of[source]]
            link.source_offset = part.outs[value] - part.width // 2
        if self.kind[target] == PART and not self.is_box(target):
            part = self.parts[self.of[target]]
            link.target_offset = part.ins[value] - part.width // 2
        self.down[source].append(link)
        self.up[target].append(link)


def arrange_rows(
    parts: Sequence[Part], wires: Sequence[Wire], rank: Sequence[int], tag_widths: Sequence[int]
) -> Rows:
    """Puts parts and lines into rows, in order, with their x (the middle of each item).

    Args:
        parts: What is placed.
        wires: Between them.
        rank: Row of each part.
        tag_widths: Of each value the width of a tag with its name.
    """
    rows = Rows(parts, rows=[[] for _ in range(max(rank, default=-1) + 3)])
    for number, part in enumerate(parts):
        rows.add(rank[number] + 1, PART, number, part.width, part.height)
    longest = _longest_line(wires, rank, len(parts))
    for wire in wires:
        _string(rows, wire, rank, longest, tag_widths)
    _sweep(rows)
    return rows


def _longest_line(wires: Sequence[Wire], rank: Sequence[int], parts: int) -> int:
    """Over how many rows a line may go, so that there is no more line than the picture bears."""
    spans = sorted(
        max(rank[target] for target in wire.targets) - rank[wire.source]
        for wire in wires
        if wire.targets and wire.source != OUTSIDE and not wire.leaves
    )
    room = _BENDS_PER_PART * parts + 100
    for span in spans:
        room -= span
        if room < 0:
            return max(2, min(_LONGEST_LINE, span - 1))
    return _LONGEST_LINE


def _string(
    rows: Rows,
    wire: Wire,
    rank: Sequence[int],
    longest: int,
    tag_widths: Sequence[int],
) -> None:
    outside = wire.source == OUTSIDE
    start = 0 if outside else rank[wire.source] + 1
    tagged, by_row = list(wire.tagged), dict[int, list[int]]()
    for target in wire.targets:
        if rank[target] + 1 - start > longest and not outside and not wire.leaves:
            tagged.append(target)
        else:
            by_row.setdefault(rank[target] + 1, []).append(target)
    last = len(rows.rows) - 1 if wire.leaves else max(by_row, default=0)
    value, width = wire.value, tag_widths[wire.value]
    for target in tagged:  # parts are the first items, so their numbers are the items'
        tag = rows.add(rank[target], TAG_IN, value, width, TAG_HEIGHT)
        rows.link(tag, target, value)
    if not outside and (wire.tagged_source or len(tagged) > len(wire.tagged)):
        tag = rows.add(start + 1, TAG_OUT, value, width, TAG_HEIGHT)
        rows.link(wire.source, tag, value)
    if not last:
        return
    carrier = rows.add(0, IN, value) if outside else wire.source
    for row in range(start + 1, last + 1):
        for target in by_row.get(row, ()):
            rows.link(carrier, target, value)
        if row < last or wire.leaves:
            bend = rows.add(row, BEND if row < len(rows.rows) - 1 else OUT, value)
            rows.link(carrier, bend, value)
            carrier = bend


def _sweep(rows: Rows) -> None:
    for row in rows.rows:
        _pack(rows, row)
    sweeps = _SWEEPS if len(rows.kind) < 20_000 else 2
    for sweep in range(sweeps + _SETTLING):
        sorts = sweep < sweeps
        for row in rows.rows[1:]:
            _settle(rows, row, above=True, below=False, sorts=sorts)
        for row in rows.rows[-2::-1]:
            _settle(rows, row, above=not sorts, below=True, sorts=sorts)
    _meet(rows)
    for row in rows.rows[1:]:
        _straighten(rows, row)
    _meet(rows)


def _pack(rows: Rows, row: list[int]) -> None:
    right = 0
    for item in row:
        reach = rows.width[item] // 2 + _MARGIN[rows.kind[item]]
        rows.x[item] = right + reach
        right += 2 * reach
    for item in row:
        rows.x[item] -= right // 2


def _settle(rows: Rows, row: list[int], above: bool, below: bool, sorts: bool) -> None:
    """Moves the items of a row to where their neighbours want them."""
    wanted: dict[int, int] = {}
    for item in row:
        total, weights = 0, _homing(rows, item)
        for link in rows.up[item] if above else ():
            weight = _weight(rows, link)
            total += weight * (rows.x[link.source] + link.source_offset - link.target_offset)
            weights += weight
        for link in rows.down[item] if below else ():
            weight = _weight(rows, link)
            total += weight * (rows.x[link.target] + link.target_offset - link.source_offset)
            weights += weight
        wanted[item] = total // weights if rows.down[item] or rows.up[item] else rows.x[item]
    if sorts:
        row.sort(key=lambda item: (wanted[item], rows.x[item], item))
    insists = [4 if rows.kind[item] == BEND else 1 for item in row]
    places = spread([wanted[item] for item in row], _reach(rows, row), insists)
    for item, x in zip(row, places, strict=True):
        rows.x[item] = x


def _homing(rows: Rows, item: int) -> int:
    """How much an item wants to be in the middle: wide blocks most, or they stand in steps."""
    if rows.kind[item] == PART and not rows.is_box(item):
        return _HOMING + max(0, rows.width[item] - _WIDE) // _HOMING_WIDTH
    return _HOMING


def _weight(rows: Rows, link: Link) -> int:
    bends = (rows.kind[link.source] == BEND) + (rows.kind[link.target] == BEND)
    return (8, 16, 64)[bends]


def _meet(rows: Rows) -> None:
    """Lets values enter right above where they go."""
    row, wanted = rows.rows[0], []
    for item in row:
        ends = [rows.x[e.target] + e.target_offset - e.source_offset for e in rows.down[item]]
        wanted.append(sorted(ends)[(len(ends) - 1) // 2] if ends else rows.x[item])
    for item, x in zip(row, spread(wanted, _reach(rows, row), [1] * len(row)), strict=True):
        rows.x[item] = x


def _straighten(rows: Rows, row: list[int]) -> None:
    """Moves items right below the one they hang on; boxes give way to lines."""
    wanted, insists = [], []
    for item in row:
        x = rows.x[item]
        insistence = 1
        if len(rows.up[item]) == 1:
            link = rows.up[item][0]
            x = rows.x[link.source] + link.source_offset - link.target_offset
            if abs(x - rows.x[item]) > _STEP and rows.kind[item] == PART and not rows.is_box(item):
                x = rows.x[item]
            line = rows.kind[item] in (BEND, OUT)
            straight = line and rows.kind[link.source] in (BEND, IN)
            insistence = 2 if line else 6
            if straight and len(rows.down[link.source]) == 1:
                insistence = _STRAIGHT
        wanted.append(x)
        insists.append(insistence)
    for item, x in zip(row, spread(wanted, _reach(rows, row), insists), strict=True):
        rows.x[item] = x


def _reach(rows: Rows, row: list[int]) -> list[int]:
    return [rows.width[item] // 2 + _MARGIN[rows.kind[item]] for item in row]
