"""Two compared graphs as text; and real ones, captured before and after a change, and lowered."""

import msgspec
import pytest
from hypothesis import given, settings

import small_models
from golden_files import check_golden
from graphlens.analysis.diff_listing import ADDED, REMOVED, entries
from graphlens.analysis.graph_diff import graph_diff
from graphlens.errors import UsageError
from graphlens.model import Graph, GraphDiff, Report
from graphlens.renderers.diff_text import DiffTextRenderer
from hand_graphs import branching, chain, graphs, hostile, small, tensor
from test_graph_diff import edited, inserted, linear, rewired, with_nodes


def changed() -> Graph:
    """The small graph with one node more, one less, an edited one, and an edited parameter."""
    nodes = [rewired(node, "act", "norm") for node in inserted(small(), 8).nodes]
    nodes = [node for node in nodes if node.name != "act"]
    for number, node in enumerate(nodes):
        if node.name == "dot":
            nodes[number] = edited(node, args=("ij,jk->ik", "left", "right"))
        if node.name == "beta":
            nodes[number] = edited(node, tensors=(tensor(128),))
    return with_nodes(small(), nodes)


def text(diff: GraphDiff, **options: object) -> str:
    return DiffTextRenderer(root="/home/ann/app", **options).diff(diff)


@pytest.mark.parametrize(
    ("name", "before", "after", "options"),
    [
        ("changed", small, changed, {"width": 100}),
        ("narrow", small, changed, {"width": 60, "context": 1}),
        ("all", small, changed, {"width": None, "context": None}),
        ("lowered", lambda: linear(False), lambda: linear(True), {"width": 100}),
        ("hostile", small, hostile, {"width": 100}),
        ("same", branching, branching, {"width": 100}),
    ],
)
def test_golden(name, before, after, options):
    check_golden(f"diff_{name}.txt", text(graph_diff(before(), after()), **options))


def test_bodies_have_a_listing_of_their_own():
    plain = msgspec.structs.replace(branching(), subgraphs=())
    listing = text(graph_diff(plain, branching()))
    assert "body cond_true_0:" in listing
    assert "+ z " in listing


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_fit_the_width(width: int):
    for of in (changed(), hostile()):
        assert max(map(len, text(graph_diff(small(), of), width=width).splitlines())) <= width


def test_context_says_how_much_is_left_out():
    listing = text(graph_diff(chain(30), inserted(chain(30), 15)), context=2)
    assert listing.count(" torch.") == 0
    assert "… 14 the same" in listing
    assert "… 14 the same" in listing.splitlines()[-1]
    assert len([line for line in listing.splitlines() if " relu(" in line]) == 4


def test_context_is_checked():
    with pytest.raises(UsageError, match="context=-1: give a number from 0, or None"):
        DiffTextRenderer(context=-1)


@settings(max_examples=40, deadline=None)
@given(graphs(), graphs())
def test_every_node_is_listed_once_and_in_order(one: Graph, other: Graph):
    diff = graph_diff(one, other)
    listed = entries(diff.parts[0], one.nodes, other.nodes)
    after = [node.name for entry in listed if entry.sign != REMOVED for node in entry.after]
    before = [node.name for entry in listed if entry.sign != ADDED for node in entry.before]
    assert after == [node.name for node in other.nodes]
    assert sorted(before) == sorted(node.name for node in one.nodes)
    assert text(diff) == text(graph_diff(one, other))


def captured(change: bool) -> Report:
    torch = pytest.importorskip("torch")
    import graphlens

    model, arguments = small_models.bert()
    if change:
        model.encoder.layer[1].intermediate.intermediate_act_fn = torch.nn.ReLU()
    with torch.no_grad():
        return graphlens.explain(model.eval(), inner="aot_eager")(**arguments)


def test_a_real_model_before_and_after_a_change_and_lowered():
    before, after = captured(False), captured(True)
    for one, other, gelu, relu in zip(
        before.graphs, after.graphs, ("F.gelu", "aten.gelu"), ("F.relu", "aten.relu"), strict=True
    ):
        diff = graph_diff(one, other)
        assert len(diff.same) == len(one.nodes) - 1
        assert (diff.added, diff.removed, diff.replaced) == ((), (), ())
        (pair,) = diff.changed
        assert (pair.changes[0].before, pair.changes[0].after) == (gelu, relu)
        assert pair.after.module == "encoder.layer.1.intermediate.intermediate_act_fn"
    diff = graph_diff(*before.graphs)
    assert (diff.added, diff.changed) == ((), ())
    assert {node.target for node in diff.removed} <= {
        "torch.nn.functional.dropout", "contiguous", "torch.arange",
    }  # fmt: skip
    assert {pair.before.role for pair in diff.same} >= {"parameter", "input", "buffer"}
    linears = [one for one in diff.replaced if one.before[0].target == "torch._C._nn.linear"]
    assert linears
    assert all("torch.ops.aten.addmm.default" in [n.target for n in one.after] for one in linears)
