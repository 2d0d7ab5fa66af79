import pytest
from hypothesis import given, settings

from graphlens.analysis.diagram import diagram, diagrams
from graphlens.analysis.diagram_names import FAR, HUB_USERS, OUTPUT_LINES
from graphlens.analysis.families import label_family
from graphlens.analysis.module_order import module_order, pieces
from graphlens.analysis.text_width import shorten_middle, text_width, visible
from graphlens.model import Graph, Node
from hand_graphs import (
    branching,
    call,
    graph,
    graphs,
    hostile,
    modules,
    output,
    placeholder,
    small,
    tensor,
)


def boxes(of: Graph):
    return {box.name: box for box in diagram(of).boxes}


def lines(of: Graph) -> set[tuple[str, str]]:
    drawn = diagram(of)
    return {(drawn.boxes[e.source].name, drawn.boxes[e.target].name) for e in drawn.edges}


def test_parameters_become_rows_of_the_operator_that_uses_them():
    box = boxes(small())["conv"]
    assert [row.text for row in box.rows] == ["weight 64×3×7×7"]
    assert box.nodes == ("conv", "w")
    assert "w" not in boxes(small())


def test_parameters_of_one_shape_share_a_row():
    assert [row.text for row in boxes(small())["norm"].rows] == ["weight, bias 64"]


def test_transposed_weights_are_still_weights():
    box = boxes(
        graph(
            placeholder("x", "input", "", 8, 64),
            placeholder("p", "parameter", "fc.weight", 64, 64),
            call("t", "torch.ops.aten.t.default", "p"),
            call("mm", "torch.ops.aten.mm.default", "x", "t"),
        )
    )
    assert list(box) == ["x", "mm"]
    assert box["mm"].rows[0].text == "weight 64×64 transposed"
    assert box["mm"].nodes == ("mm", "t", "p")


def test_unused_parameters_keep_a_box():
    assert list(boxes(graph(placeholder("p", "parameter", "fc.weight", 64)))) == ["p"]


def test_items_of_a_tuple_are_part_of_its_producer():
    box = boxes(small())["split"]
    assert box.nodes == ("split", "left", "right")
    assert box.value == "4×64 f32 and 1 more"
    assert ("split", "dot") in lines(small())


def test_indexing_a_tensor_is_an_operator():
    of = graph(
        placeholder("x", "input", "", 8, 64),
        call("row", "_operator.getitem", "x", tensors=(tensor(64),)),
    )
    assert list(boxes(of)) == ["x", "row"]


def test_what_a_box_says():
    box = boxes(small())["conv"]
    assert (box.label, box.caption) == ("conv2d", "conv · Conv2d")
    assert (box.value, box.place) == ("s0×64×112×112 f32", "model.py:20")
    assert box.family == "matrix"
    assert box.details[:2] == ("conv: torch.conv2d(x, w)", "x = self.conv(x)")
    assert boxes(small())["x"].caption == "x"
    assert boxes(small())["output"].value == "scalar f32"


def test_a_graph_that_ends_with_a_break_says_so():
    of = graph(placeholder("x"), output("x"), ended_by="Data-dependent branching")
    assert [row.text for row in boxes(of)["output"].rows] == [
        "graph break: Data-dependent branching"
    ]


def test_title():
    assert diagram(small()).title == "0/0 dynamo · forward (model.py:12) · 9 operators"


def test_hubs_are_named_at_their_users():
    users = [call(f"u{i}", "torch.relu", "x") for i in range(HUB_USERS)]
    of = graph(placeholder("x", "input", "", 8), *users)
    assert not lines(of)
    assert [row.text for row in boxes(of)["x"].rows] == [f"→ {HUB_USERS} users"]
    assert [row.text for row in boxes(of)["u0"].rows] == ["← x"]
    assert len(lines(graph(placeholder("x"), *users[1:]))) == HUB_USERS - 1


def test_outputs_of_many_values_are_named_at_their_producers():
    made = [call(f"u{i}", "torch.relu", f"u{i - 1}" if i else "x") for i in range(OUTPUT_LINES + 1)]
    of = graph(placeholder("x"), *made, output(*(node.name for node in made)))
    assert not any(target == "output" for _, target in lines(of))
    assert boxes(of)["output"].value == f"{OUTPUT_LINES + 1} values"
    assert [row.text for row in boxes(of)["u0"].rows] == ["→ output"]


def test_far_uses_are_named_at_both_ends():
    nodes = [placeholder("x0")]
    nodes += [call(f"x{i}", "torch.relu", f"x{i - 1}") for i in range(1, FAR + 2)]
    nodes.append(call("end", "torch.add", nodes[-1].name, "x1"))
    of = boxes(graph(*nodes))
    assert [row.text for row in of["x1"].rows] == ["→ end"]
    assert [row.text for row in of["end"].rows] == ["← x1"]


def test_modules_are_nested_clusters():
    drawn = diagram(small())
    assert [cluster.label for cluster in drawn.clusters] == ["block · Block"]
    inside = [box.name for box in drawn.boxes if box.cluster == 0]
    assert inside == ["conv", "norm", "act", "add"]


def test_a_number_keeps_the_name_before_it():
    nodes = [placeholder("x")]
    for block in ("layer1.0", "layer1.1"):
        for i in range(2):
            name = f"{block[-1]}{i}"
            around = modules(block, "Sequential", "Block")
            nodes.append(call(name, "torch.relu", nodes[-1].name, modules=around))
    labels = [cluster.label for cluster in diagram(graph(*nodes)).clusters]
    assert labels == ["layer1 · Sequential", "layer1.0 · Block", "layer1.1 · Block"]


def test_a_module_called_twice_has_two_clusters():
    nodes = [placeholder("x")]
    for name, path in (("a", "m"), ("b", "m"), ("c", ""), ("d", "m"), ("e", "m")):
        around = modules(path, "Shared") if path else ()
        nodes.append(call(name, "torch.relu", nodes[-1].name, modules=around))
    drawn = diagram(graph(*nodes))
    assert [cluster.label for cluster in drawn.clusters] == ["m · Shared", "m · Shared (2)"]


def test_a_constant_made_outside_does_not_break_a_module():
    around = modules("m", "M")
    of = graph(
        placeholder("x"),
        call("a", "torch.relu", "x", modules=around),
        call("constant", "torch.arange"),
        call("b", "torch.add", "a", "constant", modules=around),
    )
    assert len(diagram(of).clusters) == 1


def test_bodies_are_further_diagrams():
    main, true, false = diagrams(branching())
    assert [row.text for row in boxes(branching())["c"].rows] == ["body cond_true_0, cond_false_0"]
    assert main.operators == 3
    assert true.title.endswith("body cond_true_0 · 1 operator")
    assert [box.label for box in false.boxes] == ["input", "cos", "output"]


def test_no_nodes():
    assert diagram(graph()).boxes == ()


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_nothing_is_lost_and_everything_is_in_order(of: Graph):
    drawn = diagram(of)
    assert {n for box in drawn.boxes for n in box.nodes} == {node.name for node in of.nodes}
    assert all(edge.source < edge.target for edge in drawn.edges)
    assert len(set(drawn.edges)) == len(drawn.edges)
    assert all(cluster.parent < index for index, cluster in enumerate(drawn.clusters))
    assert drawn == diagram(of)


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_clusters_are_in_one_piece(of: Graph):
    drawn = diagram(of)
    paths = []
    for box in drawn.boxes:
        path, cluster = [], box.cluster
        while cluster >= 0:
            path.insert(0, (str(cluster), ""))
            cluster = drawn.clusters[cluster].parent
        paths.append(tuple(path))
    assert pieces(paths, range(len(paths))) == len(drawn.clusters)


def test_module_order_is_topological():
    paths = [(("a", ""),), (), (("a", ""),), ()]
    order = module_order(paths, [[], [0], [1], []])
    assert sorted(order) == [0, 1, 2, 3]
    assert order.index(0) < order.index(1) < order.index(2)


def test_nasty_names_are_made_visible():
    text = " ".join(box.label + box.caption + box.value for box in diagram(hostile()).boxes)
    assert not set(text) & set("\n\x00\x1b\u202e\ud800")
    assert visible("a\nb\x00\u202e\ud800") == r"a\nb\x00\u202e\ud800"


@pytest.mark.parametrize(
    ("label", "family"),
    [
        ("aten.convolution", "matrix"),
        ("aten.convolution_backward", "matrix"),
        ("F.linear", "matrix"),
        ("aten._scaled_dot_product_flash_attention_for_cpu", "matrix"),
        ("prims.convert_element_type", "pointwise"),
        ("aten._to_copy", "pointwise"),
        ("iadd", "pointwise"),
        ("F.gelu", "pointwise"),
        ("F.dropout", "pointwise"),
        ("aten.threshold_backward", "pointwise"),
        ("aten.native_layer_norm", "normalisation"),
        ("aten._softmax", "normalisation"),
        ("BatchNorm2d", "normalisation"),
        ("Tensor.sum", "reduction"),
        ("aten.max_pool2d_with_indices", "reduction"),
        ("aten.nll_loss_forward", "reduction"),
        ("Tensor.view", "view"),
        ("aten.t", "view"),
        ("aten.embedding", "view"),
        ("mylib.fancy", "other"),
        ("aten.normal", "other"),
    ],
)
def test_families(label: str, family: str):
    assert label_family(label) == family


def test_every_operator_has_a_known_family_and_others_are_no_operators():
    assert boxes(graph(Node(name="a", op="get_attr", target="a")))["a"].family == "other"


def test_text_width():
    assert text_width("") == 0
    assert text_width("iii") < text_width("WWW")
    assert text_width("漢", 12) == 12
    assert text_width("abc", 12) < text_width("abc", 12, bold=True)
    assert shorten_middle("abcdefghij", 5) == "ab…ij"
    assert len(shorten_middle("a" * 100, 40)) == 40
