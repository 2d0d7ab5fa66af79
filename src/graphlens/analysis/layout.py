"""Where the boxes of a diagram go: a layered layout in linear time, module by module.

Each cluster is laid out on its own, the innermost first, and is then one part of the block
around it. Lines enter a cluster at its top and leave it at its bottom, at places that the inside
has chosen, so they cross neither the boxes in it nor those beside it. Everything is whole
numbers in a fixed order: the same diagram gives the same layout on every machine.
"""

from collections.abc import Sequence

from graphlens.analysis.box_size import HEADER, box_size, header_width, tag_width
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diagram_tree import ROOT, Member, members
from graphlens.analysis.families import OUTPUT
from graphlens.analysis.layout_block import lay_block
from graphlens.analysis.layout_data import (
    OUTSIDE,
    Block,
    Layout,
    Part,
    Point,
    Rect,
    Route,
    Tag,
    Wire,
    moved,
)

__all__ = ["Layout", "Rect", "Route", "Tag", "layout"]

_TALLEST_ROOT = 1400
_TALLEST_CLUSTER = 2600
_SIDE = 14
_LOOP = 12


def layout(diagram: Diagram, tallest: int | None = None) -> Layout:
    """Places boxes, clusters and lines.

    Args:
        diagram: Its boxes are in topological order, those of a cluster one after another.
        tallest: What is taller is broken into columns, in pixels; None for what suits a screen.
    """
    sizes = [box_size(box) for box in diagram.boxes]
    tags = [tag_width(box.name) for box in diagram.boxes]
    parents = [cluster.parent for cluster in diagram.clusters]
    contents = members(diagram)
    wires = _wires(diagram, parents)
    blocks: dict[int, Block] = {}
    output = _output(diagram)
    for container in range(len(parents) - 1, ROOT - 1, -1):
        parts = [
            Part(*sizes[number], is_last=number == output) if is_box else _part(blocks[number])
            for is_box, number in contents[container]
        ]
        place = {member: index for index, member in enumerate(contents[container])}
        inside = [wire.placed(place) for wire in wires[container].values()]
        usual = _TALLEST_ROOT if container == ROOT else _TALLEST_CLUSTER
        block = lay_block(parts, inside, tags, usual if tallest is None else tallest)
        if container != ROOT:
            headline = header_width(diagram.clusters[container])
            block = _framed(block, headline, _loops(diagram, container, block))
        blocks[container] = block
    return _absolute(contents, blocks, sizes, len(parents))


def _output(diagram: Diagram) -> int | None:
    """The output that nothing leads to because its values are named where they are made."""
    ends = [number for number, box in enumerate(diagram.boxes) if box.family == OUTPUT]
    return ends[-1] if ends and all(edge.source != ends[-1] for edge in diagram.edges) else None


class _Use:
    """A value in one container: where it comes from and where it goes."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.source: Member | None = None
        self.targets: dict[Member, None] = {}
        self.leaves = False

    def placed(self, place: dict[Member, int]) -> Wire:
        source = OUTSIDE if self.source is None else place[self.source]
        return Wire(self.value, source, [place[target] for target in self.targets], self.leaves)


def _wires(diagram: Diagram, parents: Sequence[int]) -> dict[int, dict[int, _Use]]:
    """Takes each edge apart into its pieces in the containers it goes through."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent != ROOT else 1)
    wires: dict[int, dict[int, _Use]] = {index: {} for index in range(ROOT, len(parents))}

    def use(container: int, value: int) -> _Use:
        return wires[container].setdefault(value, _Use(value))

    def depth(container: int) -> int:
        return depths[container] if container != ROOT else 0

    for edge in diagram.edges:
        left: Member = (True, edge.source)
        right: Member = (True, edge.target)
        above, below = diagram.boxes[edge.source].cluster, diagram.boxes[edge.target].cluster
        while above != below:
            if depth(above) >= depth(below):
                wire = use(above, edge.source)
                wire.source, wire.leaves = left, True
                left, above = (False, above), parents[above]
            else:
                use(below, edge.source).targets[right] = None
                right, below = (False, below), parents[below]
        wire = use(above, edge.source)
        wire.source = left
        wire.targets[right] = None
    return wires


def _part(block: Block) -> Part:
    return Part(block.width, block.height, block.ins, block.outs, is_box=False)


def _loops(diagram: Diagram, cluster: int, block: Block) -> list[tuple[int, int]]:
    """Values that leave a repeated block and are those that enter it again, in its place."""
    loops = [loop for loop in diagram.loops if loop.cluster == cluster]
    if not loops:
        return []
    targets = {loop.target for loop in loops}
    fed = [e.source for e in diagram.edges if e.target in targets and e.source in block.ins]
    sources = {loop.source for loop in loops if loop.source in block.outs}
    return [(source, fed[0]) for source in sorted(sources)[:1] if fed]


def _framed(block: Block, headline: int, loops: Sequence[tuple[int, int]]) -> Block:
    """The block with a frame and a headline; lines are led through the frame."""
    more = _LOOP if loops else 0
    width = max(block.width + 2 * (_SIDE + more), headline)
    width += width % 2
    left, top = (width - block.width) // 2, HEADER + more
    end = top + block.height + more
    height = end + _SIDE
    ins = {value: x + left for value, x in block.ins.items()}
    outs = {value: x + left for value, x in block.outs.items()}
    routes = [route.moved(left, top) for route in block.routes]
    routes += [Route(value, ((x, 0), (x, top))) for value, x in ins.items()]
    routes += [Route(value, ((x, end - more), (x, height))) for value, x in outs.items()]
    for source, value in loops:
        lane, high, low = width - _SIDE, HEADER + 2, end
        way = ((outs[source], low), (lane, low), (lane, high), (ins[value], high))
        routes.append(Route(source, (*way, (ins[value], top)), again=True))
    tags = [Tag(tag.source, _shifted(tag.rect, left, top), tag.incoming) for tag in block.tags]
    return Block(width, height, list(moved(block.places, left, top)), routes, tags, ins, outs)


def _shifted(rect: Rect, x: int, y: int) -> Rect:
    return Rect(rect.x + x, rect.y + y, rect.width, rect.height)


def _absolute(
    contents: dict[int, list[Member]],
    blocks: dict[int, Block],
    sizes: Sequence[Point],
    clusters: int,
) -> Layout:
    """All places in the coordinates of the whole picture."""
    corners: dict[Member, Point] = {(False, ROOT): (0, 0)}
    routes: list[Route] = []
    tags: list[Tag] = []
    for container in range(ROOT, clusters):
        block = blocks[container]
        left, top = corners[(False, container)]
        for member, (x, y) in zip(contents[container], block.places, strict=True):
            corners[member] = (x + left, y + top)
        routes += [route.moved(left, top) for route in block.routes]
        tags += [Tag(t.source, _shifted(t.rect, left, top), t.incoming) for t in block.tags]
    return Layout(
        width=blocks[ROOT].width,
        height=blocks[ROOT].height,
        boxes=tuple(Rect(*corners[(True, i)], *sizes[i]) for i in range(len(sizes))),
        clusters=tuple(
            Rect(*corners[(False, i)], blocks[i].width, blocks[i].height) for i in range(clusters)
        ),
        routes=tuple(routes),
        tags=tuple(tags),
    )
