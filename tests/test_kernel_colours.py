"""Boxes coloured by the kernel that computes them."""

from msgspec.structs import replace

from graphlens.analysis.diagram import diagram
from graphlens.model import Unavailable
from graphlens.renderers.kernel_colours import COLOURS, colour_of
from graphlens.renderers.overlay import overlaid, overlay
from graphlens.renderers.svg import SvgRenderer
from hand_graphs import small


def test_kernels_next_to_each_other_differ():
    assert all(colour_of(n) != colour_of(n + 1) for n in range(40))
    assert {colour_of(n) for n in range(40)} == set(range(1, COLOURS + 1))


def test_a_graph_without_kernels_says_that_nothing_is_known():
    of = replace(small(), kernels=Unavailable("not compiled"))
    shown = overlay(of, "kernel")
    (drawn,) = overlaid([diagram(of)], shown)
    assert {box.heat for box in drawn.boxes} == {0}
    assert "nothing is known" in SvgRenderer(colour="kernel").graph(of)
