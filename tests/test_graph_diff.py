"""Two graphs compared: by structure, not by name."""

import time
from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import report_corpus
from graphlens.analysis.diff_subsequence import longest_common
from graphlens.analysis.graph_diff import graph_diff
from graphlens.model import Graph, GraphDiff, ModuleCall, Node, SourceLocation, Subgraph
from hand_graphs import (
    branching,
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
    tensor,
)


def with_nodes(of: Graph, nodes: list[Node]) -> Graph:
    return msgspec.structs.replace(of, nodes=tuple(nodes))


def edited(node: Node, **fields: object) -> Node:
    return msgspec.structs.replace(node, **fields)


def rewired(node: Node, old: str, new: str) -> Node:
    """The node with one input in place of another."""
    if old not in node.inputs:
        return node
    inputs = tuple(dict.fromkeys(new if name == old else name for name in node.inputs))
    if node.op == "output":
        return output(*inputs)
    args = tuple(new if text == old else text for text in node.args)
    return edited(node, inputs=inputs, args=args)


def renamed(of: Graph, name: Callable[[str], str]) -> Graph:
    nodes = []
    for node in of.nodes:
        for old in node.inputs:
            node = rewired(node, old, name(old))
        target = name(node.name) if node.op == "placeholder" else node.target
        nodes.append(edited(node, name=name(node.name), target=target))
    return with_nodes(of, nodes)


def inserted(of: Graph, at: int, target: str = "torch.sin") -> Graph:
    """One more node, on the way from a node to all of its users."""
    node = of.nodes[at]
    new = call("the_new", target, node.name, tensors=node.tensors, modules=node.modules)
    rest = [rewired(later, node.name, "the_new") for later in of.nodes[at + 1 :]]
    return with_nodes(of, [*of.nodes[: at + 1], new, *rest])


def counts(diff: GraphDiff) -> tuple[int, int, int, int, int]:
    return (
        len(diff.same), len(diff.changed), len(diff.replaced), len(diff.added), len(diff.removed)
    )  # fmt: skip


def names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.name for node in nodes]


@pytest.mark.parametrize("make", [small, branching, hostile, lambda: chain(5), lambda: graph()])
def test_a_graph_and_itself_are_the_same(make):
    diff = graph_diff(make(), make())
    bodies = sum(len(body.nodes) for body in make().subgraphs)
    assert counts(diff) == (len(make().nodes) + bodies, 0, 0, 0, 0)
    assert diff.is_same
    assert all(pair.before == pair.after for pair in diff.same)


def test_an_inserted_node_is_added_and_its_users_are_the_same():
    diff = graph_diff(small(), inserted(small(), 6))
    assert counts(diff) == (14, 0, 0, 1, 0)
    assert names(diff.added) == ["the_new"]


def test_a_removed_node_is_removed_and_its_users_are_the_same():
    nodes = [rewired(node, "act", "norm") for node in small().nodes if node.name != "act"]
    diff = graph_diff(small(), graph(*nodes))
    assert counts(diff) == (13, 0, 0, 0, 1)
    assert names(diff.removed) == ["act"]


def test_swapped_operands_are_a_change():
    def difference(*inputs: str) -> Graph:
        return graph(
            placeholder("a", "input", "L['a']", 8, 64),
            placeholder("b", "input", "L['b']", 8, 64),
            call("d", "torch.sub", *inputs),
            output("d"),
        )

    diff = graph_diff(difference("a", "b"), difference("b", "a"))
    assert counts(diff) == (3, 1, 0, 0, 0)
    (change,) = diff.changed[0].changes
    assert (change.what, change.before, change.after) == ("inputs", "a, b", "b, a")


def test_one_input_used_twice_in_another_place_is_a_change():
    def of(*args: str) -> Graph:
        joined = call("c", "torch.cat", "a", "b", args=args)
        return graph(placeholder("a", "input", "L['a']", 8), placeholder("b", "input", "L['b']", 8),
                     joined, output("c"))  # fmt: skip

    diff = graph_diff(of("[a, b, a]", "0"), of("[a, b, b]", "0"))
    assert [change.what for change in diff.changed[0].changes] == ["inputs"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"target": "torch.nn.functional.gelu"}, [("operator", "F.relu", "F.gelu")]),
        ({"target": "torch.ops.aten.relu.default"}, [("operator", "F.relu", "aten.relu")]),
        ({"kwargs": (("inplace", "True"),)}, [("arguments", "none", "inplace=True")]),
        ({"args": ("norm", "3")}, [("arguments", "none", "3")]),
        ({"tensors": (tensor(8, 128),)}, [("shape", "8×64", "8×128")]),
        ({"tensors": (tensor(8, 64, dtype="bfloat16"),)}, [("dtype", "float32", "bfloat16")]),
        ({"tensors": ()}, [("value", "8×64 float32", "nothing known")]),
        (
            {"tensors": (tensor(4, dtype="int64"),)},
            [("shape", "8×64", "4"), ("dtype", "float32", "int64")],
        ),
    ],
)
def test_what_is_edited_is_said(fields: dict[str, object], expected: list[tuple[str, str, str]]):
    nodes = [edited(node, **fields) if node.name == "act" else node for node in small().nodes]
    diff = graph_diff(small(), graph(*nodes))
    assert counts(diff) == (13, 1, 0, 0, 0)
    found = [(change.what, change.before, change.after) for change in diff.changed[0].changes]
    assert found == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"source": SourceLocation(file="other.py", line=99, code="y = self.conv(x)")},
        {"tensors": (msgspec.structs.replace(tensor(8, 64), device="cuda:0", stride=(1, 8)),)},
        {"modules": modules("renamed.norm", "Block", "BatchNorm2d")},
    ],
)
def test_line_device_stride_and_module_are_no_changes(fields: dict[str, object]):
    nodes = [edited(node, **fields) if node.name == "norm" else node for node in small().nodes]
    assert graph_diff(small(), graph(*nodes)).is_same


def test_symbols_are_known_by_what_they_stand_for():
    def of(symbol: str) -> Graph:
        return graph(
            placeholder("x", "input", "L['x']", symbol, 8),
            call("y", "torch.relu", "x", tensors=(tensor(f"2*{symbol}", 8),)),
            output("y"),
        )

    assert graph_diff(of("s0"), of("s77")).is_same
    other = graph(*of("s77").nodes[:1], edited(of("s77").nodes[1], tensors=(tensor("s77", 8),)))
    assert [c.what for c in graph_diff(of("s0"), other).changed[0].changes] == ["shape"]


def test_names_in_strings_and_dtypes_are_no_inputs():
    def of(name: str) -> Graph:
        gelu = call("y", "torch.gelu", name, args=(name, "'tanh'", "torch.float32"))
        return graph(placeholder(name, "input", "L['x']", 8), gelu, output("y"))

    assert graph_diff(of("tanh"), of("torch")).is_same


def test_the_order_of_independent_nodes_does_not_matter():
    nodes = list(small().nodes)
    nodes[2], nodes[3] = nodes[3], nodes[2]
    nodes[9], nodes[10] = nodes[10], nodes[9]
    assert graph_diff(small(), graph(*nodes)).is_same


def test_equal_branches_are_not_mixed():
    def branch(first: str, second: str) -> list[Node]:
        return [call(first, "torch.relu", "x"), call(second, "torch.relu", first)]

    x = placeholder("x", "input", "L['x']", 8, 64)
    one, two = branch("a", "b"), branch("c", "d")
    diff = graph_diff(graph(x, *one, *two), graph(x, one[0], two[0], two[1], one[1]))
    assert diff.is_same


def test_a_layer_more():
    def layers(count: int) -> Graph:
        nodes = [placeholder("h0", "input", "L['x']", 8, 64)]
        for i in range(count):
            around = modules(f"layers.{i}", "ModuleList", "Layer")
            nodes.append(call(f"a{i}", "torch.relu", nodes[-1].name, modules=around))
            nodes.append(call(f"h{i + 1}", "torch.add", nodes[-1].name, f"h{i}", modules=around))
        return graph(*nodes, output(nodes[-1].name))

    diff = graph_diff(layers(6), layers(7))
    assert counts(diff) == (14, 0, 0, 2, 0)
    assert names(diff.added) == ["a6", "h7"]


def test_differences_at_both_ends_leave_the_middle_alone():
    of = chain(40)
    nodes = list(inserted(of, 0, "torch.tanh").nodes)
    nodes = [edited(node, name="first") if node.name == "the_new" else node for node in nodes]
    nodes = [rewired(node, "the_new", "first") for node in nodes]
    both = inserted(with_nodes(of, nodes), len(nodes) - 2, "torch.tan")
    diff = graph_diff(of, both)
    assert counts(diff) == (42, 0, 0, 2, 0)
    assert {node.target for node in diff.added} == {"torch.tanh", "torch.tan"}


def test_other_sizes_change_every_node_and_keep_the_pairs():
    larger = [edited(n, tensors=(tensor(16, 64),)) if n.tensors else n for n in chain(30).nodes]
    diff = graph_diff(chain(30), graph(*larger))
    assert counts(diff) == (1, 31, 0, 0, 0)
    assert all(pair.before.name == pair.after.name for pair in diff.changed)


def test_bodies_are_compared():
    changed = [
        Subgraph(
            name=body.name,
            nodes=tuple(
                edited(node, target="torch.tanh") if node.target == "torch.cos" else node
                for node in body.nodes
            ),
        )
        for body in branching().subgraphs
    ]
    diff = graph_diff(branching(), msgspec.structs.replace(branching(), subgraphs=tuple(changed)))
    assert [(pair.before.target, pair.after.target) for pair in diff.changed if
            pair.before.is_operator] == [("torch.cos", "torch.tanh")]  # fmt: skip
    assert [part.body_after for part in diff.parts] == ["", "cond_true_0", "cond_false_0"]
    assert not diff.added
    assert not diff.removed


def test_bodies_are_found_by_what_is_in_them():
    true, false = branching().subgraphs
    swapped = (edited(true, name="cond_false_0"), edited(false, name="cond_true_0"))
    nodes = [edited(node, target={"cond_true_0": "cond_false_0", "cond_false_0": "cond_true_0"}
                    .get(node.target, node.target)) for node in branching().nodes]  # fmt: skip
    other = msgspec.structs.replace(branching(), nodes=tuple(nodes), subgraphs=swapped)
    assert graph_diff(branching(), other).is_same


def test_a_body_of_one_graph_only_is_added():
    plain = msgspec.structs.replace(branching(), subgraphs=())
    diff = graph_diff(plain, branching())
    assert len(diff.added) == 6
    assert [part.body_before for part in diff.parts] == ["", "", ""]


def linear(lowered: bool) -> Graph:
    line = SourceLocation(file="/home/ann/app/model.py", line=8, code="y = relu(self.fc(x))")
    inside = {"source": line, "modules": modules("fc", "Linear")}
    state = [
        placeholder("x", "input", "L['x']", 8, 64),
        placeholder("w", "parameter", "fc.weight", 64, 64),
        placeholder("b", "parameter", "fc.bias", 64),
    ]
    if lowered:
        body = [
            call("t", "torch.ops.aten.t.default", "w", **inside),
            call("addmm", "torch.ops.aten.addmm.default", "b", "x", "t", **inside),
            call("relu", "torch.ops.aten.relu.default", "addmm", source=line),
            output("relu", "t"),
        ]
        return graph(*state, *body, id="0/0.forward", stage="forward")
    body = [
        call("fc", "torch._C._nn.linear", "x", "w", "b", **inside),
        call("y", "torch.relu", "fc", source=line),
        output("y"),
    ]
    return graph(*state, *body)


def test_lowering_replaces_by_module_and_line():
    diff = graph_diff(linear(False), linear(True))
    assert [(names(one.before), names(one.after)) for one in diff.replaced] == [
        (["fc"], ["t", "addmm"])
    ]
    assert [(pair.before.name, pair.after.name) for pair in diff.same] == [
        ("x", "x"), ("w", "w"), ("b", "b"), ("y", "relu"),
    ]  # fmt: skip
    assert [pair.after.name for pair in diff.changed] == ["output"]  # it saves a value
    assert not diff.added
    assert not diff.removed


def test_two_lowered_graphs_of_the_corpus():
    lowered = report_corpus.lowered_graph()
    assert graph_diff(lowered, lowered).is_same


def everything(diff: GraphDiff) -> tuple[list[str], list[str]]:
    before = [pair.before.name for pair in (*diff.same, *diff.changed)]
    after = [pair.after.name for pair in (*diff.same, *diff.changed)]
    before += [node.name for one in diff.replaced for node in one.before]
    after += [node.name for one in diff.replaced for node in one.after]
    return sorted(before + names(diff.removed)), sorted(after + names(diff.added))


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_renamed_nodes_are_the_same(of: Graph):
    diff = graph_diff(of, renamed(of, lambda name: f"other_{name}"))
    assert diff.is_same
    assert all(pair.after.name == f"other_{pair.before.name}" for pair in diff.same)


@settings(max_examples=60, deadline=None)
@given(graphs(), graphs())
def test_each_node_is_in_one_class_and_the_other_way_round_mirrors(one: Graph, other: Graph):
    diff, mirrored = graph_diff(one, other), graph_diff(other, one)
    assert everything(diff) == (
        sorted(node.name for node in one.nodes), sorted(node.name for node in other.nodes)
    )  # fmt: skip
    assert names(diff.added) == names(mirrored.removed)
    assert names(diff.removed) == names(mirrored.added)

    def pairs(of: GraphDiff, kind: str) -> set[tuple[str, str]]:
        return {(pair.before.name, pair.after.name) for pair in getattr(of, kind)}

    for kind in ("same", "changed"):
        assert pairs(diff, kind) == {(b, a) for a, b in pairs(mirrored, kind)}


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_one_inserted_node_is_found(of: Graph, data: st.DataObject):
    at = [i for i, node in enumerate(of.nodes) if node.op != "output"]
    if not at:
        return
    changed = inserted(of, data.draw(st.sampled_from(at)))
    diff = graph_diff(of, renamed(changed, lambda name: f"r_{name}"))
    assert names(diff.added) == ["r_the_new"]
    assert counts(diff) == (len(of.nodes), 0, 0, 1, 0)
    assert counts(graph_diff(changed, of)) == (len(of.nodes), 0, 0, 0, 1)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_one_more_of_the_same_operator_is_one_more(of: Graph, data: st.DataObject):
    at = [i for i, node in enumerate(of.nodes) if node.op != "output"]
    if not at:
        return
    diff = graph_diff(of, inserted(of, data.draw(st.sampled_from(at)), "torch.ops.aten.add.Tensor"))
    assert (len(diff.added), len(diff.removed)) == (1, 0)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_one_edited_node_is_found(of: Graph, data: st.DataObject):
    at = [i for i, node in enumerate(of.nodes) if node.is_operator]
    if not at:
        return
    number = data.draw(st.sampled_from(at))
    fields = data.draw(
        st.sampled_from([{"kwargs": (("alpha", "2"),)}, {"tensors": (tensor(77, 2),)}])
    )
    nodes = list(of.nodes)
    nodes[number] = edited(nodes[number], **fields)
    diff = graph_diff(of, with_nodes(of, nodes))
    assert counts(diff) == (len(nodes) - 1, 1, 0, 0, 0)
    assert [len(pair.changes) for pair in diff.changed] == [1]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from("abcd"), max_size=14), st.lists(st.sampled_from("abcd"), max_size=14)
)
def test_the_longest_common_subsequence(before: list[str], after: list[str]):
    longest = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, one in enumerate(before):
        for j, other in enumerate(after):
            longest[i + 1][j + 1] = (
                longest[i][j] + 1 if one == other else max(longest[i][j + 1], longest[i + 1][j])
            )
    pairs = longest_common(before, after)
    assert len(pairs) == longest[-1][-1]
    assert all(before[i] == after[j] for i, j in pairs)
    assert all(a < b and c < d for (a, c), (b, d) in pairwise(pairs))


def test_hostile_names_can_be_renamed():
    diff = graph_diff(hostile(), renamed(hostile(), lambda name: f"{name}(]\\"))
    assert len(diff.added) == len(diff.removed) == 0


def test_a_large_graph_and_a_variant_take_a_second():
    of = tangle(1, 10_000, 4, 3)
    nodes = list(renamed(of, lambda name: f"v_{name}").nodes)
    for number in range(500, 10_000, 500):
        nodes[number] = edited(nodes[number], kwargs=(("alpha", "2"),))
    variant = inserted(with_nodes(of, nodes), 5000)
    started = time.process_time()
    diff = graph_diff(of, variant)
    assert time.process_time() - started < 6  # under 1 on a quiet machine
    assert counts(diff) == (9_983, 19, 0, 1, 0)


def test_a_module_called_twice_is_told_by_its_wiring():
    def of(*first: str) -> Graph:
        shared = (ModuleCall(path="fc", type="Linear"),)
        return graph(
            placeholder("x", "input", "L['x']", 8, 64),
            call("a", "torch.relu", "x", modules=shared),
            call("b", "torch.relu", "a", modules=shared),
            call("c", "torch.sub", *first),
            output("c"),
        )

    diff = graph_diff(of("a", "b"), of("b", "a"))
    assert [(pair.before.name, pair.changes[0].what) for pair in diff.changed] == [("c", "inputs")]
