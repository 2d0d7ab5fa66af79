"""The modules around the boxes of a diagram, as nested clusters."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphlens.analysis.diagram_data import Cluster
from graphlens.analysis.module_order import Path, common_depth, module_order
from graphlens.analysis.text_width import shorten_middle

_LONGEST = 60


@dataclass(frozen=True)
class Arrangement:
    """Where boxes stand; boxes by the numbers they came with.

    Attributes:
        order: The boxes, as they are drawn.
        position: Of each box its place in the order.
        clusters: Outer ones before those in them.
        cluster: Of each box the innermost cluster, or -1.
        captions: Of boxes that are all of a module: that module.
        whole: Of the same boxes the module's path.
    """

    order: list[int]
    position: list[int]
    clusters: tuple[Cluster, ...]
    cluster: list[int]
    captions: dict[int, str]
    whole: dict[int, str]


def arrange(paths: Sequence[Path], inputs: Sequence[Sequence[int]]) -> Arrangement:
    """Orders boxes and makes the clusters.

    A module with a single box needs no rectangle around it: it becomes the box's caption.

    Args:
        paths: Of each box the (path, type) of the modules around it, outermost first.
        inputs: Of each box the boxes it uses; all of them come before it.
    """
    order = module_order(paths, inputs)
    position = [0] * len(order)
    for place, box in enumerate(order):
        position[box] = place
    calls, inner = _calls(paths, order)
    kept = [call for call in calls if call.boxes > 1]
    for index, call in enumerate(kept):
        call.index = index
    cluster, captions, whole = [-1] * len(order), {}, {}
    for box in order:
        own = inner[box]
        if own and own.boxes == 1:
            captions[box] = _label(own)
            whole[box] = own.path
        drawn = _drawn(own)
        cluster[box] = drawn.index if drawn else -1
    clusters = tuple(
        Cluster(
            label=_label(call),
            path=call.path,
            type=call.type,
            parent=call.parent.index if call.parent else -1,
            leaf=call.leaf,
        )
        for call in kept
    )
    return Arrangement(order, position, clusters, cluster, captions, whole)


@dataclass(eq=False)
class _Call:
    """One piece of a module in the drawing."""

    path: str
    type: str
    parent: "_Call | None"
    number: int
    boxes: int = 0
    index: int = -1
    leaf: bool = True


def _calls(paths: Sequence[Path], order: Sequence[int]) -> tuple[list[_Call], list[_Call | None]]:
    calls: list[_Call] = []
    inner: list[_Call | None] = [None] * len(order)
    times: dict[tuple[str, str], int] = {}
    before: Path = ()
    opened: list[_Call] = []
    for box in order:
        path = paths[box]
        del opened[common_depth(before, path) :]
        for module in path[len(opened) :]:
            times[module] = times.get(module, 0) + 1
            if opened:
                opened[-1].leaf = False
            opened.append(_Call(*module, opened[-1] if opened else None, times[module]))
            calls.append(opened[-1])
        for call in opened:
            call.boxes += 1
        inner[box] = opened[-1] if opened else None
        before = path
    return calls, inner


def _drawn(call: _Call | None) -> _Call | None:
    """The innermost call from this one outwards that has a rectangle."""
    while call and call.boxes == 1:
        call = call.parent
    return call


def _label(call: _Call) -> str:
    around = _drawn(call.parent)
    path = call.path
    if around and path.startswith(around.path + "."):
        path = path[len(around.path) + 1 :]
        if path.partition(".")[0].isdigit():  # a bare number says too little
            path = f"{around.path.rpartition('.')[2]}.{path}"
    again = f" ({call.number})" if call.number > 1 else ""
    kind = call.type.rpartition(".")[2]
    return shorten_middle(f"{path} · {kind}" if kind else path, _LONGEST) + again
