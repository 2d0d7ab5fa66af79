"""Boxes coloured by the time of their kernel, and what tables and the page say of times."""

from msgspec.structs import replace

from golden_files import check_golden
from graphlens.analysis.diagram import diagram
from graphlens.analysis.diagram_view import View
from graphlens.model import Report, Unavailable
from graphlens.renderers.kernel_table import kernel_table
from graphlens.renderers.overlay import overlaid, overlay
from graphlens.renderers.slowest_kernels import kernel_gaps, kernel_remarks, slowest_rows
from graphlens.renderers.svg import SvgRenderer
from graphlens.renderers.viewer_payload import viewer_payload
from report_corpus import CEILINGS, ENVIRONMENT, lowered_graph, micro, timed_graph
from test_kernels import with_kernels


def timed(case: str):
    """A graph with kernels of 1, 2, 3, ... milliseconds."""
    graph = with_kernels(case)
    kernels = tuple(replace(k, seconds=micro(1000 * n)) for n, k in enumerate(graph.kernels, 1))
    return replace(graph, kernels=kernels)


def marks(of, **view):
    shown = overlay(of, "time")
    (drawn,) = overlaid([diagram(of, View(**view))], shown)
    return {
        box.name: (box.heat, *(row.text for row in box.rows if row.kind == "mark"))
        for box in drawn.boxes
    }


def test_each_node_has_the_time_of_its_kernel():
    graph = timed("mlp_forward")
    found = marks(graph)
    assert found["addmm"] == (2, "1.00 ms")
    assert {found[name] for name in graph.kernels[1].nodes if name in found} == {(3, "2.00 ms")}
    assert {found[name] for name in graph.kernels[3].nodes if name in found} == {(5, "4.00 ms")}


def test_a_box_of_several_nodes_counts_each_kernel_once():
    graph = timed("mlp_forward")
    shown = overlay(graph, "time")
    box = replace(diagram(graph).boxes[0], nodes=graph.kernels[1].nodes + graph.kernels[2].nodes)
    assert shown.of_box(box) == 0.002 + 0.003


def test_picture():
    svg = SvgRenderer(colour="time", theme="light").graph(timed("mlp_forward"))
    check_golden("svg_time.svg", svg)
    assert "time of the whole kernel" in svg
    assert "up to 4.00 ms" in svg
    assert "nothing is known" in SvgRenderer(colour="time").graph(with_kernels("mlp_forward"))


def test_the_slowest_come_first():
    report = Report(environment=ENVIRONMENT, graphs=(timed_graph(),), ceilings=CEILINGS)
    slow = timed("mlp_forward")
    rows = slowest_rows(replace(report, graphs=(timed_graph(), slow)))
    assert [row["kernel"].partition(" ")[0] for row in rows] == ["4", "3", "2", "1", "1", "2"]
    assert rows[0]["share"] == "?"  # the time of its graph is not known
    assert rows[4] == {
        "share": "40.0 %", "time": "0.0100 ms (0.0090 to 0.0110)", "graph": "2/0 forward",
        "kernel": "1 triton_per_fused_native_layer_norm_0",
        "bound": "memory-bound at 60 % of copy speed", "operators": "native_layer_norm",
        "lines": "/home/user/project/demo.py:31",
    }  # fmt: skip
    assert "3 kernels of 0.0200 ms, 80.0 % of the graph's 0.0250 ms" in kernel_remarks(report)[1]
    assert kernel_gaps(report) == []


def test_times_that_are_missing_say_why():
    why = Unavailable("the budget of 1 s does not hold 6 rounds")
    graph = replace(timed_graph(), kernel_times=why)
    graph = replace(graph, kernels=tuple(replace(k, seconds=why, bound=why) for k in graph.kernels))
    report = Report(environment=ENVIRONMENT, graphs=(graph, lowered_graph()))
    assert slowest_rows(report) == []
    assert kernel_remarks(report) == []
    assert kernel_gaps(report) == [f"Kernels of 2/0 forward not timed: {why.reason}"]
    assert f"times: {why.reason}" in kernel_table(graph)
    assert "bound" not in kernel_table(graph)


def test_the_page_shows_the_time_beside_a_node():
    listed = viewer_payload(timed_graph())["kernels"]["list"]
    assert listed[0]["time"] == (
        "0.0100 ms (0.0090 to 0.0110), 40.0 % of the graph; memory-bound at 60 % of copy speed"
    )
    assert listed[2]["time"] == ""
