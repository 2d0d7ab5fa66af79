"""What a layout takes and gives: whole pixels, y downwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Point = tuple[int, int]


@dataclass(frozen=True)
class Rect:
    """A rectangle."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Route:
    """A piece of the line that carries a box's value.

    Attributes:
        source: The box whose value it is.
        points: At least two. Between points of the same x it is straight, else it may be curved.
        arrow: Whether it ends at a box that uses the value.
        wraps: Whether it leads to another column: right-angled, and upwards on its way.
        again: Whether it leads from the end of a repeated block back to its beginning.
    """

    source: int
    points: tuple[Point, ...]
    arrow: bool = False
    wraps: bool = False
    again: bool = False

    def moved(self, x: int, y: int) -> "Route":
        """The same elsewhere."""
        points = moved(self.points, x, y)
        return Route(self.source, points, self.arrow, self.wraps, self.again)


@dataclass(frozen=True)
class Tag:
    """A name in place of a line that would be too long to follow.

    Attributes:
        source: The box whose value it is; its name stands at both ends.
        rect: Where it is.
        incoming: Whether it is at a user of the value, not at the source.
    """

    source: int
    rect: Rect
    incoming: bool


@dataclass(frozen=True)
class Layout:
    """Where everything of a diagram is; boxes and clusters by their index in it."""

    width: int
    height: int
    boxes: tuple[Rect, ...]
    clusters: tuple[Rect, ...]
    routes: tuple[Route, ...]
    tags: tuple[Tag, ...]


@dataclass(frozen=True)
class Part:
    """What is placed in a block: a box, or a finished block with its ports.

    Attributes:
        width: Even.
        height: In pixels.
        ins: Where values enter a block, x from its left by value; empty for a box.
        outs: Where values leave a block; empty for a box.
        is_box: Whether it is a box.
        is_last: Whether it stands below all others, connected or not.
    """

    width: int
    height: int
    ins: Mapping[int, int] = field(default_factory=dict)
    outs: Mapping[int, int] = field(default_factory=dict)
    is_box: bool = True
    is_last: bool = False


OUTSIDE = -1


@dataclass
class Wire:
    """A value within one block.

    Attributes:
        value: The box it comes from.
        source: Index of the part it comes from, or OUTSIDE.
        targets: Parts that use it.
        leaves: Whether it is used outside the block too.
        tagged: Parts that use it, each with a tag instead of a line.
        tagged_source: Whether the source has a tag.
    """

    value: int
    source: int
    targets: list[int] = field(default_factory=list)
    leaves: bool = False
    tagged: list[int] = field(default_factory=list)
    tagged_source: bool = False


@dataclass
class Block:
    """Placed parts, and the places where values enter at the top and leave at the bottom."""

    width: int
    height: int
    places: list[Point]
    routes: list[Route]
    tags: list[Tag]
    ins: dict[int, int]
    outs: dict[int, int]


def moved(points: Sequence[Point], x: int, y: int) -> tuple[Point, ...]:
    """The points, shifted."""
    return tuple((left + x, top + y) for left, top in points)
