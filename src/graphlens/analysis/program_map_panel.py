"""Where everything in one panel of a program's map stands: its boxes, its texts and its arrows."""

from collections.abc import Sequence
from dataclasses import replace

from graphlens.analysis.even_columns import split_evenly
from graphlens.analysis.layout_data import Point, Rect
from graphlens.analysis.program_map_boxes import SIZES, Cell, Line, MapBox, Panel, Row
from graphlens.analysis.text_fit import fitted, width_of, wrapped_to
from graphlens.model.base import Data

COLUMN = {2: 490, 3: 320}
"""Widest panel that fits so many columns."""
STRIP, PADDING = 22, 8
LINE, HEADING = 15, 18
_MARGIN, _GAP, _BESIDE = 14, 20, 12
_CAPTION = 18
_BAR = 6
_LONG = 9
_WIDEST, _WIDEST_PAIR, _NARROWEST = 620, 640, 220
_PAIR, _LINK = 440, 98


class Text(Data, frozen=True, kw_only=True):
    """A placed line of text, with its class; ``p`` in it sets the end of the text at x."""

    x: int
    y: int
    text: str
    kind: str = ""


class PlacedBox(Data, frozen=True, kw_only=True):
    """A placed box, its texts in coordinates of the page."""

    box: MapBox
    rect: Rect
    texts: tuple[Text, ...]


class Placed(Data, frozen=True, kw_only=True):
    """A placed panel.

    Attributes:
        panel: What it shows.
        rect: Its frame.
        texts: Its heading and notes, captions, and what stands on links.
        frames: Around boxes of which one runs.
        boxes: Placed.
        arrows: From point to point, the head at the last.
        links: From a forward to its backward.
    """

    panel: Panel
    rect: Rect
    texts: tuple[Text, ...]
    frames: tuple[Rect, ...] = ()
    boxes: tuple[PlacedBox, ...] = ()
    arrows: tuple[tuple[Point, ...], ...] = ()
    links: tuple[tuple[Point, ...], ...] = ()


def needed_width(panel: Panel, crowded: bool = False) -> int:
    """The least width at which a panel is good to read: of three columns, of two, or more.

    Args:
        panel: A panel.
        crowded: Whether there are many, so that a frame's boxes are set two by two.
    """
    if len(panel.rows) > 2 * _LONG or (panel.notes and not panel.rows):
        return COLUMN[2] + 1
    cells = max((len(row.cells) for row in panel.rows), default=1)
    pairs = any(cell.backward for row in panel.rows for cell in row.cells)
    if cells == 1:
        return COLUMN[2] if pairs else COLUMN[3]
    return COLUMN[2] if cells <= (8 if crowded else 2) and not pairs else COLUMN[2] + 1


def place_panel(panel: Panel, x: int, y: int, width: int) -> Placed:
    """A panel with its top left corner at a point."""
    inner = width - 2 * _MARGIN
    texts, at = lines_at(panel.lines, x + _MARGIN, y + 8, inner)
    for note in panel.notes:
        for text in wrapped_to(note, inner):
            texts.append(Text(x=x + _MARGIN, y=at + 11, text=text))
            at += LINE
        at += 3
    columns = _columns_of(panel, inner)
    column = (inner - (columns - 1) * _GAP) // columns
    stack = _Stack(panel, x + _MARGIN, at + 10, column)
    heights = [stack.height(row) + _GAP for row in panel.rows]
    counts = split_evenly(heights, columns) if heights else []
    done = 0
    for number, count in enumerate(counts):
        if number:
            stack.next_column(column + _GAP)
        for row in panel.rows[done : done + count]:
            stack.add(row)
        done += count
    bottom = stack.bottom + _MARGIN if panel.rows else at + 10
    return Placed(
        panel=panel,
        rect=Rect(x=x, y=y, width=width, height=bottom - y),
        texts=(*texts, *stack.texts),
        frames=tuple(stack.frames),
        boxes=tuple(stack.boxes),
        arrows=tuple(stack.arrows),
        links=tuple(stack.links),
    )


def lines_at(lines: Sequence[Line], x: int, y: int, width: int) -> tuple[list[Text], int]:
    """Lines of text from a corner on, cut to a width; and where they end."""
    texts: list[Text] = []
    for line in lines:
        size, bold = SIZES.get(line.kind, (11, False))
        height = HEADING if line.kind in SIZES else LINE
        base = y + height - 4
        right = fitted(line.right, width)
        room = width - (width_of(right) + 10 if right else 0)
        text = fitted(line.text, room, size, bold)
        if text:
            texts.append(Text(x=x, y=base, text=text, kind=line.kind))
        if right:
            texts.append(Text(x=x + width, y=base, text=right, kind="q p"))
        y += height
    return texts, y


def box_height(box: MapBox) -> int:
    """Height of a box of any width."""
    rows = sum(HEADING if line.kind in SIZES else LINE for line in box.lines)
    return 2 * PADDING - 4 + rows + (_BAR if box.share else 0)


def _columns_of(panel: Panel, inner: int) -> int:
    """In how many columns the rows of a panel stand: long ones wrap where there is room."""
    if len(panel.rows) <= _LONG or any(len(row.cells) > 1 for row in panel.rows):
        return 1
    pairs = any(cell.backward for row in panel.rows for cell in row.cells)
    return max(1, min(3, inner // (_PAIR if pairs else 290)))


class _Stack:
    """Rows one under the other, joined by arrows, in columns."""

    def __init__(self, panel: Panel, x: int, y: int, width: int) -> None:
        self.x, self.y, self.width = x, y, width
        self.top = self.bottom = y
        self.texts: list[Text] = []
        self.frames: list[Rect] = []
        self.boxes: list[PlacedBox] = []
        self.arrows: list[tuple[Point, ...]] = []
        self.links: list[tuple[Point, ...]] = []
        self.end: Point | None = None  # of the row before
        self.backward: Point | None = None  # bottom of the backward before
        # A lane at the right is kept free for backward passes where every row is one box.
        pairs = any(cell.backward for row in panel.rows for cell in row.cells)
        self.row = min(width, _WIDEST_PAIR if pairs else _WIDEST)
        self.lane = _backward_width(self.row) + _BESIDE if pairs else 0

    def next_column(self, step: int) -> None:
        """Goes on at the top, to the right; the arrow there runs between the columns."""
        before, self.end, self.backward = self.end, None, None
        self.x, self.y = self.x + step, self.top
        if before is not None:
            x, y = before
            gutter, begin = self.x - _GAP // 2, self.top + 12
            self.arrows.append(
                (before, (x, y + 8), (gutter, y + 8), (gutter, begin), (self.x, begin))
            )

    def add(self, row: Row) -> None:
        """Places a row beneath the ones before."""
        top = self.y + (_GAP if self.end else 0)
        if self.end is not None:
            self.arrows.append((self.end, (self.end[0], top)))
        self.y = self.framed(row, top) if len(row.cells) > 1 else self.single(row.cells[0], top)
        self.end = (self.x + STRIP // 2, self.y)
        self.bottom = max(self.bottom, self.y)

    def height(self, row: Row) -> int:
        if len(row.cells) == 1:
            return _cell_height(row.cells[0])
        each = self.per_line(row)
        lines = [row.cells[i : i + each] for i in range(0, len(row.cells), each)]
        heights = [max(map(_cell_height, line)) for line in lines]
        return _CAPTION + 2 * PADDING + sum(heights) + (len(lines) - 1) * _BESIDE

    def per_line(self, row: Row) -> int:
        """How many boxes of a frame stand side by side: all lines as full as the first."""
        pairs = any(cell.backward for cell in row.cells)
        fit = max(1, self.width // (_PAIR if pairs else _NARROWEST))
        lines = -(-len(row.cells) // fit)
        return -(-len(row.cells) // lines)

    def single(self, cell: Cell, y: int) -> int:
        width = self.row if cell.backward else self.row - self.lane
        height = _cell_height(cell)
        self.cell(cell, Rect(x=self.x, y=y, width=width, height=height), in_lane=True)
        return y + height

    def framed(self, row: Row, y: int) -> int:
        each, height = self.per_line(row), self.height(row)
        self.frames.append(Rect(x=self.x, y=y, width=self.width, height=height))
        room = self.width - 2 * PADDING
        caption = fitted(row.caption, room)
        self.texts.append(Text(x=self.x + PADDING, y=y + 14, text=caption, kind="q"))
        width = (room - (each - 1) * _BESIDE) // each
        at = y + _CAPTION + PADDING - 4
        pairs = any(cell.backward for cell in row.cells)
        for start in range(0, len(row.cells), each):
            line = row.cells[start : start + each]
            tallest = max(map(_cell_height, line))
            for number, cell in enumerate(line):
                x = self.x + PADDING + number * (width + _BESIDE)
                self.cell(cell, Rect(x=x, y=at, width=width, height=tallest), pairs=pairs)
            at += tallest + _BESIDE
        self.backward = None
        return y + height

    def cell(self, cell: Cell, rect: Rect, in_lane: bool = False, pairs: bool = False) -> None:
        """A box, and its backward to the right."""
        if cell.backward is None:
            # Among others that have a backward it is as wide as their forwards.
            beside = 0 if in_lane or not pairs else _backward_width(rect.width) + _LINK
            self.box(cell.box, replace(rect, width=rect.width - beside))
            return
        x, y, width, height = rect.x, rect.y, rect.width, rect.height
        of_backward = _backward_width(width)
        forward = width - of_backward - _LINK
        self.box(cell.box, Rect(x=x, y=y, width=forward, height=height))
        right = Rect(x=x + width - of_backward, y=y, width=of_backward, height=height)
        self.box(cell.backward, right)
        middle = y + height // 2
        self.links.append(((x + forward, middle), (right.x, middle)))
        for number, text in enumerate(cell.link[:2]):
            shown = fitted(text, _LINK - 12)
            left = x + forward + (_LINK - 6 - width_of(shown)) // 2
            self.texts.append(Text(x=left, y=middle - 6 + 18 * number, text=shown, kind="q"))
        if in_lane:
            centre = right.x + of_backward // 2
            if self.backward is not None:
                self.arrows.append(((centre, y), self.backward))
            self.backward = (centre, y + height)

    def box(self, box: MapBox, rect: Rect) -> None:
        left = rect.x + STRIP + PADDING
        width = rect.width - STRIP - 2 * PADDING
        texts, _ = lines_at(box.lines, left, rect.y + PADDING - 3, width)
        self.boxes.append(PlacedBox(box=box, rect=rect, texts=tuple(texts)))


def _cell_height(cell: Cell) -> int:
    return max(box_height(cell.box), box_height(cell.backward) if cell.backward else 0)


def _backward_width(width: int) -> int:
    return max(130, min(width * 28 // 100, 170))
