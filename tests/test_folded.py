"""Repeats folded, modules closed: less is drawn, and nothing is lost."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlens.analysis.collapsed import collapsed, deeper, leaves
from graphlens.analysis.diagram import diagram, whole_diagram
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diagram_view import MANY_BOXES, MOST_BOXES, View
from graphlens.analysis.folded import folded
from graphlens.analysis.layout import layout
from graphlens.errors import UsageError
from graphlens.model import Graph
from hand_graphs import call, graph, graphs, modules, output, placeholder, tangle
from test_layout import check

MODEL = ("Encoder", "Layer", "Linear")


def block(number: int, before: str, more: tuple[str, ...] = (), mask: str = "mask"):
    """A layer of four operators, two of them in a module of its own."""
    name = f"b{number}"
    around = modules(f"layers.{number}", "ModuleList", "Layer")[1:]
    inner = (*around, *modules(f"layers.{number}.ff", "", "", "FeedForward")[2:])
    return [
        call(f"{name}_norm", "torch.layer_norm", before, modules=around),
        call(f"{name}_mask", "torch.mul", f"{name}_norm", mask, modules=around),
        call(f"{name}_up", "torch.matmul", f"{name}_mask", modules=inner),
        call(f"{name}_act", "torch.relu", f"{name}_up", modules=inner),
        *(call(f"{name}_{op}", f"torch.{op}", f"{name}_act", modules=around) for op in more),
        call(f"{name}_add", "torch.add", f"{name}_act", before, modules=around),
    ]


def stacked(count: int, odd: int | None = None) -> Graph:
    nodes = [placeholder("x", "input", "", 8, 64), placeholder("mask", "input", "", 8, 64)]
    last = "x"
    for number in range(count):
        nodes += block(number, last, ("tanh",) if number == odd else ())
        last = f"b{number}_add"
    return graph(*nodes, call("head", "torch.matmul", last), output("head"))


def names(drawn: Diagram) -> list[str]:
    return sorted(name for box in drawn.boxes for name in box.nodes)


def lines(drawn: Diagram) -> set[tuple[str, str]]:
    return {(drawn.boxes[e.source].name, drawn.boxes[e.target].name) for e in drawn.edges}


def test_equal_blocks_are_drawn_once():
    drawn = folded(whole_diagram(stacked(12)))
    assert [c.label for c in drawn.clusters] == ["layers.0 … 11 · Layer ×12", "ff · FeedForward"]
    assert len(drawn.boxes) == 2 + 5 + 2
    assert drawn.clusters[0].repeats == 12
    assert names(drawn) == names(whole_diagram(stacked(12)))
    assert drawn.boxes[2].count == 12
    assert ("b0_add", "head") in lines(drawn)
    assert ("mask", "b0_mask") in lines(drawn)


def test_what_each_block_takes_from_the_one_before_is_a_loop():
    drawn = folded(whole_diagram(stacked(12)))
    found = {(drawn.boxes[one.source].name, drawn.boxes[one.target].name) for one in drawn.loops}
    assert found == {("b0_add", "b0_norm"), ("b0_add", "b0_add")}
    assert {one.cluster for one in drawn.loops} == {0}
    assert any(route.again for route in layout(drawn).routes)


def test_a_block_that_is_not_like_the_others_says_how():
    drawn = folded(whole_diagram(stacked(32, odd=31)))
    outer = [c for c in drawn.clusters if c.parent < 0]
    assert [c.repeats for c in outer] == [31, 1]
    assert outer[1].note == "1 tanh more"
    middle = folded(whole_diagram(stacked(9, odd=4)))
    assert [c.repeats for c in middle.clusters if c.parent < 0] == [4, 1, 4]


def test_blocks_that_take_turns():
    nodes = [placeholder("x", "input", "", 8, 64), placeholder("mask", "input", "", 8, 64)]
    last = "x"
    for number in range(8):
        nodes += block(number, last, ("tanh",) if number % 2 else ())
        last = f"b{number}_add"
    drawn = folded(whole_diagram(graph(*nodes, output(last))))
    first = drawn.clusters[0]
    assert (first.label, first.repeats) == ("layers.0 … 6 ×4", 4)
    assert sum(c.parent == 0 for c in drawn.clusters) == 2


def test_equal_modules_that_are_not_numbered_stay():
    """Query, key and value are no repetition: folded, one could not see which feeds what."""
    nodes = [placeholder("x", "input", "", 8, 64)]
    for name in ("query", "key", "value"):
        around = modules(name, "Projection")
        nodes += [
            call(f"{name}_up", "torch.matmul", "x", modules=around),
            call(f"{name}_act", "torch.relu", f"{name}_up", modules=around),
        ]
    whole = whole_diagram(graph(*nodes))
    assert folded(whole) == whole


def test_other_shapes_are_other_blocks():
    nodes = [placeholder("x", "input", "", 8, 64), placeholder("mask", "input", "", 8, 64)]
    nodes += block(0, "x")
    wider = [
        type(node)(**{f: getattr(node, f) for f in node.__struct_fields__} | {"tensors": ()})
        for node in block(1, "b0_add")
    ]
    assert all(c.repeats == 1 for c in folded(whole_diagram(graph(*nodes, *wider))).clusters)


def test_inputs_of_each_block_are_one_box():
    nodes = [placeholder("x", "input", "", 8, 64)]
    nodes += [placeholder(f"cache{n}", "input", f"L['cache{n}']", 8, 64) for n in range(6)]
    last = "x"
    for number in range(6):
        nodes += block(number, last, mask=f"cache{number}")
        last = f"b{number}_add"
    drawn = folded(whole_diagram(graph(*nodes, output(last))))
    box = next(box for box in drawn.boxes if box.count == 6 and box.family == "input")
    assert (box.label, box.caption) == ("input ×6", "cache0 … cache5")
    assert names(drawn) == names(whole_diagram(graph(*nodes, output(last))))


def test_leaves_and_depths():
    whole = folded(whole_diagram(stacked(12)))
    leaf = collapsed(whole, leaves(whole))
    closed = next(box for box in leaf.boxes if box.label == "FeedForward")
    assert (closed.caption, closed.family, closed.operators) == ("ff", "matrix", 24)
    outer = collapsed(whole, deeper(whole, 1))
    layer = next(box for box in outer.boxes if box.label == "Layer ×12")
    assert (layer.family, layer.operators, layer.count) == ("module", 60, 12)
    assert "each takes the result of the one before" in [row.text for row in layer.rows]
    others = {box.name for box in outer.boxes if box is not layer}
    assert others == {"x", "mask", "head", "output"}


def test_what_is_shown_by_itself():
    assert diagram(stacked(12)).hidden == ""
    many = stacked(40, odd=20)
    assert len(diagram(many).boxes) <= MANY_BOXES
    assert len(diagram(many, View(fold=False)).boxes) <= MOST_BOXES
    assert "depth='all' shows all" in diagram(many, View(fold=False)).hidden
    assert len(diagram(many, View(depth="all", fold=False)).boxes) == 40 * 5 + 1 + 4


def test_every_node_and_every_use():
    of = stacked(3)
    drawn = diagram(of, View(depth="all", fold=False, show="nodes"))
    assert len(drawn.boxes) == len(of.nodes)
    assert len(drawn.edges) == sum(len(set(node.inputs)) for node in of.nodes)


@pytest.mark.parametrize(
    "option", [{"depth": 0}, {"depth": "deep"}, {"show": "x"}, {"depth": True}]
)
def test_mistakes_say_what_is_valid(option):
    with pytest.raises(UsageError, match="give"):
        View(**option)


@settings(max_examples=60)
@given(graphs())
def test_nothing_is_lost(of):
    whole = whole_diagram(of)
    for drawn in (folded(whole), collapsed(whole, leaves(whole)), collapsed(whole, deeper(whole, 1)),
                  collapsed(folded(whole), deeper(folded(whole), 2))):  # fmt: skip
        assert names(drawn) == names(whole)
        assert all(edge.source < edge.target for edge in drawn.edges)
        assert all(cluster.parent < number for number, cluster in enumerate(drawn.clusters))
        assert sum(box.operators for box in drawn.boxes) == sum(b.operators for b in whole.boxes)
        assert folded(drawn) == drawn or drawn is not folded(whole)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(0, 11), st.sampled_from(["all", "leaf", 1, 2]))
def test_folded_diagrams_can_be_laid_out(count, odd, depth):
    drawn = diagram(stacked(count, odd), View(depth=depth))
    check(drawn, layout(drawn))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100), st.integers(50, 400))
def test_folding_keeps_to_the_order_of_use(seed, count):
    of = tangle(seed, count, 9, 3)
    whole = whole_diagram(of)
    drawn = folded(whole)
    assert Counter(names(drawn)) == Counter(names(whole))
    assert all(edge.source < edge.target for edge in drawn.edges)
