"""Lays out one block: its parts in rows, or in several columns of rows where they are many."""

from collections.abc import Sequence

from graphlens.analysis.layout_columns import Chunk, cut_rows, join_columns, split_wires
from graphlens.analysis.layout_data import Block, Part, Point, Rect, Route, Tag, Wire
from graphlens.analysis.layout_ranks import ranks
from graphlens.analysis.layout_rows import (
    BEND,
    IN,
    OUT,
    PART,
    TAG_IN,
    TAG_OUT,
    Link,
    Rows,
    arrange_rows,
)

_ROW_GAP = 22
_WIDEST_GAP = 56
_IDLE_GAP = 14
_PORT_GAP = 10
_ENTRY_GAP = 12
_CORNER = 8


def lay_block(
    parts: Sequence[Part], wires: Sequence[Wire], tag_widths: Sequence[int], tallest: int
) -> Block:
    """Places parts so that every wire leads downwards.

    Args:
        parts: In topological order.
        wires: Between them.
        tag_widths: Of each value the width of a tag with its name.
        tallest: A block taller than that is broken into columns.
    """
    rank = ranks(parts, wires)
    column = cut_rows(parts, wires, rank, tallest)
    if column is None:
        return _lay_rows(parts, wires, rank, tag_widths)
    chunks = [
        Chunk([number for number in range(len(parts)) if column[number] == index])
        for index in range(max(column) + 1)
    ]
    crossing = split_wires(wires, chunks, column)
    blocks = []
    for chunk in chunks:
        inside = [parts[number] for number in chunk.parts]
        first = min(rank[number] for number in chunk.parts)
        inner = [rank[number] - first for number in chunk.parts]
        blocks.append(_lay_rows(inside, chunk.wires, inner, tag_widths))
    leaving = {wire.value: column[wire.source] for wire in wires if wire.leaves}
    return join_columns(chunks, blocks, crossing, leaving)


def _lay_rows(
    parts: Sequence[Part], wires: Sequence[Wire], rank: Sequence[int], tag_widths: Sequence[int]
) -> Block:
    rows = arrange_rows(parts, wires, rank, tag_widths)
    items = range(len(rows.kind))
    left = min((rows.x[i] - rows.width[i] // 2 for i in items), default=0)
    right = max((rows.x[i] + rows.width[i] // 2 for i in items), default=0)
    for item in items:
        rows.x[item] -= left
    entries = _entries(rows)
    top, bottom, height = _heights(rows, entries)
    block = Block(right - left, height, [(0, 0)] * len(parts), [], [], {}, {})
    for number, row in enumerate(rows.rows):
        for item in row:
            corner = (rows.x[item] - rows.width[item] // 2, top[number])
            _place(block, rows, item, corner)
            ends = [(entries[id(link)], link) for link in rows.down[item]]
            _draw(block, rows, item, number, ends, top, bottom)
    return block


def _place(block: Block, rows: Rows, item: int, corner: Point) -> None:
    kind, of = rows.kind[item], rows.of[item]
    if kind == PART:
        block.places[of] = corner
    elif kind == IN:
        block.ins[of] = rows.x[item]
    elif kind == OUT:
        block.outs[of] = rows.x[item]
        if corner[1] < block.height:
            x = rows.x[item]
            block.routes.append(Route(of, ((x, corner[1]), (x, block.height))))
    elif kind in (TAG_IN, TAG_OUT):
        rect = Rect(*corner, rows.width[item], rows.height[item])
        block.tags.append(Tag(of, rect, kind == TAG_IN))


def _draw(
    block: Block,
    rows: Rows,
    item: int,
    row: int,
    ends: Sequence[tuple[int, Link]],
    top: Sequence[int],
    bottom: Sequence[int],
) -> None:
    """The lines from an item to the next row; what they share is drawn once."""
    start = top[row] + (0 if rows.kind[item] in (BEND, IN) else rows.height[item])
    drawn: set[int] = set()
    for entry, link in ends:
        x = rows.x[item] + link.source_offset
        points = [(x, bottom[row])]
        if start < bottom[row] and link.value not in drawn:
            points.insert(0, (x, start))
        drawn.add(link.value)
        points.append((entry, top[row + 1]))
        arrow = rows.is_box(link.target)
        if points[-1] != points[-2]:
            block.routes.append(Route(link.value, tuple(points), arrow))


def _entries(rows: Rows) -> dict[int, int]:
    """Where each link meets its target: side by side along a box, in the order they come."""
    entries: dict[int, int] = {}
    for item, links in enumerate(rows.up):
        if not rows.is_box(item):
            entries |= {id(link): rows.x[item] + link.target_offset for link in links}
            continue
        room = max(0, rows.width[item] // 2 - _CORNER)
        gap = min(_ENTRY_GAP, 2 * room // max(1, len(links) - 1))
        links = sorted(links, key=lambda link: rows.x[link.source] + link.source_offset)
        low = rows.x[item] - room
        last = len(links) - 1
        for place, link in enumerate(links):
            x = rows.x[link.source] + link.source_offset
            x = min(max(x, low), rows.x[item] + room - gap * (last - place))
            entries[id(link)] = x
            low = x + gap
    return entries


def _heights(rows: Rows, entries: dict[int, int]) -> tuple[list[int], list[int], int]:
    top, bottom = [], []
    y = 0
    for row in rows.rows:
        top.append(y)
        y += max((rows.height[item] for item in row), default=0)
        bottom.append(y)
        y += _gap(rows, row, entries)
    return top, bottom, bottom[-1]


def _gap(rows: Rows, row: Sequence[int], entries: dict[int, int]) -> int:
    """Room between a row and the next: more where lines go far to the side."""
    links = [link for item in row for link in rows.down[item]]
    if not row:
        return 0
    if not links:
        return _IDLE_GAP
    aside = max(abs(rows.x[link.source] + link.source_offset - entries[id(link)]) for link in links)
    # Where values enter or leave, the frame has given them room already.
    ports = all(rows.kind[link.source] in (IN, TAG_IN) for link in links) or all(
        rows.kind[link.target] in (OUT, TAG_OUT) for link in links
    )
    return min(_WIDEST_GAP, (_PORT_GAP if ports else _ROW_GAP) + aside // 10)
