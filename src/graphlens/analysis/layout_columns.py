"""Breaks a tall block into columns that are read one after another, as in a newspaper.

A value that is used in a later column goes down to the bottom of its own, up between the columns
and over to the top of the later one. Where many values do, the far ones are named at both ends.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from graphlens.analysis.layout_data import (
    OUTSIDE,
    Block,
    Part,
    Point,
    Rect,
    Route,
    Tag,
    Wire,
)
from graphlens.analysis.layout_ranks import PART_GAP

_ASPECT_PERCENT = 140
_SHORTEST_COLUMN = 600
_MOST_COLUMNS = 64
_ROW_GAP = 30
_LANE = 10
_GUTTER = 28
_LANES = 8


@dataclass
class Chunk:
    """The parts of one column and the wires between them, by their numbers in the column."""

    parts: list[int]
    wires: list[Wire] = field(default_factory=list)


@dataclass
class Crossing:
    """A value that a column gives to later ones.

    Attributes:
        value: The box it comes from.
        source: Its column, or OUTSIDE.
        columns: Those that use it, in order.
    """

    value: int
    source: int
    columns: list[int]


def cut_rows(
    parts: Sequence[Part], wires: Sequence[Wire], rank: Sequence[int], tallest: int
) -> list[int] | None:
    """The column of each part, or None where one column will do.

    Rows are cut where few values cross, near the places that make columns of equal height.
    """
    count = max(rank, default=0) + 1
    heights, widths = [0] * count, [0] * count
    for part, row in zip(parts, rank, strict=True):
        heights[row] = max(heights[row], part.height + _ROW_GAP)
        widths[row] += part.width + PART_GAP
    total = sum(heights)
    if total <= tallest or count < 2:
        return None
    width = max(widths) + _GUTTER
    most = min(total // _SHORTEST_COLUMN, count, _MOST_COLUMNS)
    most = min(most, 2 + math.isqrt(total * _ASPECT_PERCENT // (100 * width)))
    tops = [0]
    for height in heights:
        tops.append(tops[-1] + height)
    crossing = _crossing(wires, rank, count)
    best: tuple[int, list[int]] | None = None
    for columns in range(1, most + 1):
        cuts = _cuts(tops, crossing, columns)
        ends = [tops[cut] for cut in (0, *cuts, count)]
        tallest_column = max(end - start for start, end in pairwise(ends))
        page = max(100 * width * (len(cuts) + 1), _ASPECT_PERCENT * tallest_column)
        if best is None or page < best[0]:
            best = page, cuts
    if best is None or not best[1]:
        return None
    return [sum(row >= cut for cut in best[1]) for row in rank]


def _cuts(tops: Sequence[int], crossing: Sequence[int], columns: int) -> list[int]:
    """The first rows of all columns but the first."""
    total, rows = tops[-1], range(1, len(tops) - 1)
    cuts: set[int] = set()
    for number in range(1, columns):
        ideal, slack = total * number // columns, total // columns // 6
        near = [row for row in rows if abs(tops[row] - ideal) <= slack]
        near = near or [min(rows, key=lambda row: abs(tops[row] - ideal))]
        cuts.add(min(near, key=lambda row: (crossing[row], abs(tops[row] - ideal), row)))
    return sorted(cuts)


def _crossing(wires: Sequence[Wire], rank: Sequence[int], count: int) -> list[int]:
    """How many values cross from above each row to it or below."""
    changes = [0] * (count + 1)
    for wire in wires:
        if wire.source != OUTSIDE and wire.targets:
            changes[rank[wire.source] + 1] += 1
            changes[max(rank[target] for target in wire.targets) + 1] -= 1
    crossing: list[int] = []
    for change in changes:
        crossing.append((crossing[-1] if crossing else 0) + change)
    return crossing


def split_wires(
    wires: Sequence[Wire], chunks: Sequence[Chunk], column: Sequence[int]
) -> list[Crossing]:
    """Gives each column its wires; returns what goes from one column to another."""
    local = {part: place for chunk in chunks for place, part in enumerate(chunk.parts)}
    crossings: list[Crossing] = []
    lanes = [0] * len(chunks)
    for wire in wires:
        by_column: dict[int, list[int]] = {}
        for target in sorted(wire.targets, key=column.__getitem__):
            by_column.setdefault(column[target], []).append(local[target])
        if wire.source == OUTSIDE:
            for index, targets in by_column.items():
                chunks[index].wires.append(Wire(wire.value, OUTSIDE, targets))
            crossings.append(Crossing(wire.value, OUTSIDE, list(by_column)))
            continue
        home = column[wire.source]
        own = Wire(wire.value, local[wire.source], by_column.pop(home, []), wire.leaves)
        chunks[home].wires.append(own)
        if not by_column:
            continue
        tagged = lanes[home] >= _LANES
        lanes[home] += 1
        own.tagged_source = tagged
        own.leaves = own.leaves or not tagged
        for index, targets in by_column.items():
            there = Wire(wire.value, OUTSIDE)
            (there.tagged if tagged else there.targets).extend(targets)
            chunks[index].wires.append(there)
        if not tagged:
            crossings.append(Crossing(wire.value, home, list(by_column)))
    return crossings


def join_columns(
    chunks: Sequence[Chunk],
    blocks: Sequence[Block],
    crossings: Sequence[Crossing],
    leaving: Mapping[int, int],
) -> Block:
    """Puts finished columns side by side and draws what goes between them.

    Args:
        chunks: The columns.
        blocks: The same, laid out.
        crossings: What goes between them or into several.
        leaving: Values that leave the whole block, with the column each comes from.
    """
    lanes = [c for c in crossings if c.source != OUTSIDE or len(c.columns) > 1]
    top = _LANE * (len(lanes) + 1) if lanes else 0
    inner = [[c for c in lanes if c.source == index] for index in range(len(blocks))]
    lefts, x = [], 0
    for block, own in zip(blocks, inner, strict=True):
        lefts.append(x)
        x += block.width + (_GUTTER + _LANE * len(own) + 1) // 2 * 2
    ground = top + max(block.height for block in blocks)
    height = ground + (_LANE * (max(map(len, inner)) + 1) if any(inner) else 0)
    places = [(0, 0)] * sum(len(chunk.parts) for chunk in chunks)
    joined = Block(lefts[-1] + blocks[-1].width, height, places, [], [], {}, {})
    for chunk, block, left in zip(chunks, blocks, lefts, strict=True):
        _include(joined, chunk, block, left, top)
    lane_y = {crossing.value: _LANE * (place + 1) for place, crossing in enumerate(lanes)}
    for index, own in enumerate(inner):
        outs = blocks[index].outs
        own.sort(key=lambda crossing: -outs[crossing.value])
        for place, crossing in enumerate(own):
            start = (lefts[index] + outs[crossing.value], top + blocks[index].height)
            track = lefts[index] + blocks[index].width + _GUTTER // 2 + _LANE * place
            low, high = ground + _LANE * (place + 1), lane_y[crossing.value]
            way = (start, (start[0], low), (track, low), (track, high))
            _branch(joined, crossing, way, blocks, lefts, top)
    for crossing in crossings:
        if crossing.source == OUTSIDE:
            first = lefts[crossing.columns[0]] + blocks[crossing.columns[0]].ins[crossing.value]
            joined.ins[crossing.value] = first
            if top:
                joined.routes.append(Route(crossing.value, ((first, 0), (first, top))))
            rest = Crossing(crossing.value, OUTSIDE, crossing.columns[1:])
            corner = (first, lane_y.get(crossing.value, 0))
            _branch(joined, rest, (corner,), blocks, lefts, top)
    for value, index in leaving.items():
        x, y = lefts[index] + blocks[index].outs[value], top + blocks[index].height
        joined.outs[value] = x
        if y < height:
            joined.routes.append(Route(value, ((x, y), (x, height))))
    return joined


def _include(joined: Block, chunk: Chunk, block: Block, left: int, top: int) -> None:
    for number, (x, y) in zip(chunk.parts, block.places, strict=True):
        joined.places[number] = (x + left, y + top)
    for route in block.routes:
        joined.routes.append(route.moved(left, top))
    for tag in block.tags:
        rect = Rect(tag.rect.x + left, tag.rect.y + top, tag.rect.width, tag.rect.height)
        joined.tags.append(Tag(tag.source, rect, tag.incoming))


def _branch(
    joined: Block,
    crossing: Crossing,
    way: tuple[Point, ...],
    blocks: Sequence[Block],
    lefts: Sequence[int],
    top: int,
) -> None:
    """Leads a line along its lane to the tops of later columns, from each to the next."""
    for index in crossing.columns:
        x = lefts[index] + blocks[index].ins[crossing.value]
        corner = (x, way[-1][1])
        joined.routes.append(Route(crossing.value, (*way, corner, (x, top)), wraps=True))
        way = (corner,)
