"""Boxes coloured by memory, accuracy, or a user's numbers: said in words, too."""

import re

import pytest
from msgspec.structs import replace

from golden_files import check_golden
from graphlens.analysis.diagram import diagram
from graphlens.analysis.diagram_view import View
from graphlens.analysis.tensor_bytes import tensor_bytes
from graphlens.errors import UsageError
from graphlens.model import Accuracy, CastChange, Divergence
from graphlens.renderers.overlay import overlaid, overlay
from graphlens.renderers.svg import SvgRenderer
from hand_graphs import call, graph, placeholder, report, small, tensor
from test_folded import stacked


def test_golden():
    check_golden("svg_memory.svg", SvgRenderer(colour="memory").graph(stacked(12)))


def marks(of, colour, **view):
    shown = overlay(of, colour)
    (drawn,) = overlaid([diagram(of, View(**view))], shown)
    return {
        box.name: (box.heat, *(row.text for row in box.rows if row.kind == "mark"))
        for box in drawn.boxes
    }


def test_bytes():
    assert tensor_bytes(tensor(8, 64)) == 8 * 64 * 4
    assert tensor_bytes(tensor(3, dtype="bool")) == 3
    assert tensor_bytes(tensor(2, dtype="bfloat16")) == 4
    assert tensor_bytes(tensor(2, dtype="complex64")) == 16
    assert tensor_bytes(tensor("s0", 4)) is None
    assert tensor_bytes(tensor(4, dtype="quint4")) is None


def test_memory_of_one_and_of_all():
    found = marks(stacked(12), "memory")
    assert found["b0_norm"] == (5, "2.00 KiB each, 24.0 KiB")
    assert found["head"] == (5, "2.00 KiB")
    assert found["x"] == (0,)
    # A layer is five results of 2 KiB; what is smaller is colder.
    outer = marks(stacked(12), "memory", depth=1)
    assert outer["b0_add"] == (5, "10.0 KiB each, 120 KiB")
    assert outer["head"] == (1, "2.00 KiB")


def test_symbolic_sizes_are_left_out():
    of = graph(placeholder("x"), call("y", "torch.relu", "x", tensors=(tensor("s0", 4),)))
    assert marks(of, "memory")["y"] == (0,)
    assert "nothing is known" in SvgRenderer(colour="memory").graph(of)


def test_accuracy_names_the_first_wrong_operator():
    first = Divergence(node="relu", operator="torch.relu")
    cast = CastChange(node="conv", operator="torch.conv2d", change="added", dtype="bfloat16")
    of = replace(
        small(), accuracy=Accuracy(verdict="diverges", first_divergence=first, casts=(cast,))
    )
    found = marks(of, "accuracy")
    wrong = {name: texts for name, (heat, *texts) in found.items() if heat == 5}
    assert wrong["conv"] == ["rounding to bfloat16 added"]
    assert wrong.get("relu", ["first wrong value"]) == ["first wrong value"]


def test_numbers_of_the_user():
    found = marks(stacked(3), {"head": 4.0, "b0_up": 1.0, "b1_up": 1.0, "b2_up": 1.0})
    assert found["head"] == (5, "4")
    assert found["b0_up"] == (2, "1 each, 3")
    svg = SvgRenderer(colour={"head": 4.0}).report(report(stacked(3)))
    assert "up to 4" in svg


def test_colours_are_in_every_theme_only_where_they_are_used():
    assert ".h5" not in SvgRenderer().graph(small())
    text = SvgRenderer(colour="memory").graph(small())
    assert len(re.findall(r"\.gl \.h5 rect", text)) == 2
    assert (
        len(
            re.findall(r"\.gl \.h5 rect", SvgRenderer(colour="memory", theme="dark").graph(small()))
        )
        == 1
    )


@pytest.mark.parametrize("colour", ["heat", {"x": -1}, {"x": "much"}, {"x": float("nan")}])
def test_mistakes(colour):
    with pytest.raises(UsageError, match="give"):
        SvgRenderer(colour=colour)
