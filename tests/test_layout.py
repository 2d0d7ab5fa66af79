import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlens.analysis.diagram import diagram
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diagram_view import View
from graphlens.analysis.layout import Layout, Rect, layout
from graphlens.analysis.spread import spread
from graphlens.model import Graph
from hand_graphs import (
    call,
    chain,
    graph,
    graphs,
    hostile,
    modules,
    output,
    placeholder,
    small,
    tangle,
)

EVERYTHING = View(depth="all", fold=False)


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def inside(inner: Rect, outer: Rect) -> bool:
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )


def check(drawn: Diagram, placed: Layout) -> None:
    """Everything a layout promises."""
    whole = Rect(0, 0, placed.width, placed.height)
    solid = [*placed.boxes, *(tag.rect for tag in placed.tags)]
    assert all(inside(rect, whole) for rect in [*solid, *placed.clusters])
    assert not any(overlap(one, other) for one, other in combinations(solid, 2))
    for index, cluster in enumerate(drawn.clusters):
        rect = placed.clusters[index]
        assert cluster.parent < 0 or inside(rect, placed.clusters[cluster.parent])
        for other in range(index):
            if drawn.clusters[other].parent == cluster.parent:
                assert not overlap(rect, placed.clusters[other])
    for box, rect in zip(drawn.boxes, placed.boxes, strict=True):
        for index, cluster in enumerate(placed.clusters):
            within = box.cluster
            while within not in (-1, index):
                within = drawn.clusters[within].parent
            assert inside(rect, cluster) if within == index else not overlap(rect, cluster)
    for route in placed.routes:
        assert len(route.points) >= 2
        for (x, y), (to_x, to_y) in pairwise(route.points):
            assert (x, y) != (to_x, to_y)
            assert to_y >= y or (x == to_x and (route.wraps or route.again))
            assert inside(Rect(x, y, 0, 0), whole)
    check_lines(drawn, placed)


def on(point: tuple, lines: list[tuple]) -> bool:
    """Whether a point is on one of several lines that lead straight down."""
    return any(x == to_x == point[0] and y <= point[1] <= to_y for (x, y), (to_x, to_y) in lines)


def check_lines(drawn: Diagram, placed: Layout) -> None:
    """Every edge can be followed from its source to its target, or is named at both."""
    pieces: dict[int, list[tuple]] = {}
    for route in placed.routes:
        pieces.setdefault(route.source, []).append(route.points)
    for edge in drawn.edges:
        start, end = placed.boxes[edge.source], placed.boxes[edge.target]
        reached = {(start.x + start.width // 2, start.y + start.height)}
        tags = [tag for tag in placed.tags if tag.source == edge.source]
        for tag in tags:
            if tag.incoming:
                reached.add((tag.rect.x + tag.rect.width // 2, tag.rect.y + tag.rect.height))
        todo = list(pieces.get(edge.source, ()))
        down: list[tuple] = []
        while True:  # a line may be in pieces that meet, in any order, also half way down
            joined = [points for points in todo if points[0] in reached or on(points[0], down)]
            if not joined:
                break
            todo = [points for points in todo if points not in joined]
            reached.update(point for points in joined for point in points)
            down += [pair for points in joined for pair in pairwise(points)]
        assert any(y == end.y and end.x <= x <= end.x + end.width for x, y in reached)
        assert not any(tag.incoming for tag in tags) or any(not tag.incoming for tag in tags)


def crossed(placed: Layout) -> int:
    """How often a line runs through a box."""
    found = 0
    for route in placed.routes:
        for (x, y), (to_x, to_y) in pairwise(route.points):
            low, high = sorted((x, to_x))
            top, bottom = sorted((y, to_y))
            line = Rect(low, top + 1, max(1, high - low), max(0, bottom - top - 2))
            found += sum(overlap(line, box) for box in placed.boxes if line.height)
    return found


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_layout_keeps_its_promises(of: Graph):
    drawn = diagram(of, EVERYTHING)
    placed = layout(drawn)
    check(drawn, placed)
    assert crossed(placed) == 0
    assert placed == layout(drawn)


@pytest.mark.parametrize("of", [small(), hostile(), graph(), chain(1), chain(60)])
def test_by_hand(of: Graph):
    drawn = diagram(of, EVERYTHING)
    check(drawn, layout(drawn))


@pytest.mark.parametrize(
    ("reach", "depth", "tags"),
    [(3, 0, False), (40, 0, False), (3, 2, False), (25, 2, True), (12, 1, True)],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_tangles(seed: int, reach: int, depth: int, tags: bool):
    drawn = diagram(tangle(seed, 260, reach, depth), EVERYTHING)
    placed = layout(drawn)
    check(drawn, placed)
    assert crossed(placed) == 0
    assert bool(placed.tags) == tags


@pytest.mark.parametrize(("count", "reach", "depth"), [(1000, 6, 2), (2000, 12, 3), (2000, 30, 1)])
@pytest.mark.parametrize("seed", [1, 2])
def test_large_tangles(seed: int, count: int, reach: int, depth: int):
    drawn = diagram(tangle(seed, count, reach, depth), EVERYTHING)
    placed = layout(drawn)
    check(drawn, placed)
    assert crossed(placed) == 0


def blocks(count: int, width: int, depth: int = 1) -> Graph:
    """Modules one after another, with branches and a residual connection each."""
    nodes = [placeholder("x", "input", "", 8, 64)]
    last = "x"
    for i in range(count):
        around = modules(f"layers.{i}" + ".inner" * (depth - 1), *("M" * (depth + 1)))
        names = []
        for j in range(width):
            names.append(f"b{i}_{j}")
            nodes.append(call(names[-1], "torch.relu", last, modules=around))
        nodes.append(call(f"s{i}", "torch.stack", *names, last, modules=around))
        last = f"s{i}"
    return graph(*nodes, output(last))


def test_tall_graphs_are_broken_into_columns():
    placed = layout(diagram(chain(100), EVERYTHING))
    assert max(placed.width, placed.height) < 3 * min(placed.width, placed.height)
    assert any(route.wraps for route in placed.routes)
    drawn = diagram(blocks(60, 3), EVERYTHING)
    placed = layout(drawn)
    check(drawn, placed)
    assert max(placed.width, placed.height) < 3 * min(placed.width, placed.height)


def test_wide_graphs_are_broken_into_rows():
    nodes = [placeholder("x")]
    nodes += [call(f"a{i}", "torch.relu") for i in range(200)]
    placed = layout(diagram(graph(*nodes), EVERYTHING))
    assert placed.width < 4 * placed.height


def test_a_chain_is_a_straight_line():
    placed = layout(diagram(chain(6)))
    assert len({rect.x + rect.width // 2 for rect in placed.boxes}) == 1
    assert all(
        x == placed.boxes[0].x + placed.boxes[0].width // 2
        for r in placed.routes
        for x, _ in r.points
    )


def test_an_output_without_lines_stands_last():
    made = [call(f"u{i}", "torch.relu", f"u{i - 1}" if i else "x") for i in range(9)]
    drawn = diagram(graph(placeholder("x"), *made, output(*(node.name for node in made))))
    placed = layout(drawn)
    assert drawn.boxes[-1].family == "output"
    assert placed.boxes[-1].y == max(rect.y for rect in placed.boxes)


def test_deep_modules_need_no_recursion():
    nodes = [placeholder("x")]
    for i in range(3000):
        path = ".".join(f"m{j}" for j in range(1 + i % 150))
        around = modules(path, *("M" for _ in range(1 + i % 150)))
        nodes.append(
            call(f"n{i}", "torch.relu", nodes[-1].name, modules=around if i > 2900 else ())
        )
    drawn = diagram(graph(*nodes), EVERYTHING)
    placed = layout(drawn)
    assert len(placed.boxes) == len(drawn.boxes) == 3001


@pytest.mark.alone
def test_ten_thousand_nodes_in_seconds():
    drawn = diagram(blocks(1000, 9), EVERYTHING)
    started = time.process_time()
    placed = layout(drawn)
    assert time.process_time() - started < 10  # about 1 on a quiet machine
    assert len(placed.boxes) == 10_002
    assert max(placed.width, placed.height) < 3 * min(placed.width, placed.height)


@given(
    st.lists(st.tuples(st.integers(-500, 500), st.integers(0, 60), st.integers(1, 9)), max_size=30)
)
def test_spread_keeps_order_and_distance(items):
    wanted, reach = [item[0] for item in items], [item[1] for item in items]
    places = spread(wanted, reach, [item[2] for item in items])
    for i, (left, right) in enumerate(pairwise(places)):
        assert right - left >= reach[i] + reach[i + 1]


def test_spread_moves_nothing_that_has_room():
    assert spread([0, 100, 250], [10, 20, 30], [1, 1, 1]) == [0, 100, 250]
    assert spread([0, 0], [10, 10], [1, 1]) == [-10, 10]
    assert spread([], [], []) == []
