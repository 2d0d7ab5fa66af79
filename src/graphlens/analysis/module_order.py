"""The order in which the boxes of a diagram are drawn: topological, each module in one piece.

A module is drawn as a rectangle, so its boxes must follow one another. Torch's order nearly
always has them so; a constant made outside, or a lowering that moves nodes, can break a module
into pieces. Of all topological orders one with few pieces is found greedily; a module that is
called twice still has two pieces, as it should.
"""

import heapq
from collections.abc import Sequence

Path = tuple[tuple[str, str], ...]
"""The (path, type) of the modules around a box, outermost first."""


def module_order(paths: Sequence[Path], inputs: Sequence[Sequence[int]]) -> list[int]:
    """A topological order in which boxes of one module stand together.

    Args:
        paths: Of each box the modules around it, outermost first.
        inputs: Of each box the boxes it uses; all of them come before it.
    """
    count = len(paths)
    users: list[list[int]] = [[] for _ in range(count)]
    for box, sources in enumerate(inputs):
        for source in sources:
            users[source].append(box)
    forward = _greedy(paths, inputs, users, range(count))
    # From the end, boxes without inputs go right before the module that uses them.
    urgency = [-count if users[box] and not inputs[box] else -box for box in range(count)]
    backward = _greedy(paths, users, inputs, urgency)[::-1]
    return forward if pieces(paths, forward) < pieces(paths, backward) else backward


def pieces(paths: Sequence[Path], order: Sequence[int]) -> int:
    """How many rectangles the modules fall into when boxes are drawn in this order."""
    count = 0
    before: Path = ()
    for box in order:
        path = paths[box]
        shared = common_depth(before, path)
        count += len(path) - shared
        before = path
    return count


def common_depth(one: Path, other: Path) -> int:
    """How many modules, from the outermost on, two paths share."""
    depth = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        depth += 1
    return depth


def _greedy(
    paths: Sequence[Path],
    inputs: Sequence[Sequence[int]],
    users: Sequence[Sequence[int]],
    urgency: Sequence[int],
) -> list[int]:
    """Takes ready boxes of the innermost open module first, the most urgent of them."""
    waiting = [len(sources) for sources in inputs]
    ready: dict[Path, list[tuple[int, int]]] = {}
    taken = [False] * len(paths)

    def offer(box: int) -> None:
        for depth in range(len(paths[box]) + 1):
            heapq.heappush(ready.setdefault(paths[box][:depth], []), (urgency[box], box))

    for box, missing in enumerate(waiting):
        if not missing:
            offer(box)
    order: list[int] = []
    path: Path = ()
    while len(order) < len(paths):
        heap = ready.get(path, [])
        while heap and taken[heap[0][1]]:
            heapq.heappop(heap)
        if not heap:
            path = path[:-1]
            continue
        box = heapq.heappop(heap)[1]
        taken[box] = True
        order.append(box)
        path = paths[box]
        for user in users[box]:
            waiting[user] -= 1
            if not waiting[user]:
                offer(user)
    return order
