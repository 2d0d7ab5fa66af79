"""Kernels of five architectures: every operator is in its kernels or has a reason, and what
Inductor itself wrote into the programs agrees.

Inductor names a C++ kernel after the operators it computes, and writes above a library's call
which operators it comes from. Two things in them are known to differ from the nodes of a kernel:

- of a library's call the comment has the operators that its arguments came from too, which other
  kernels compute; and the name of a kernel that lays out a library's input has the library's
  operator (``aggregate_origins`` in torch 2.14 takes all that a buffer came from);
- two calls of the same source have the name that was made for the first.

And where a pass of Inductor put a node in the place of others, the report has the others, which the
user knows, while the name is made of the one.
"""

import re

import pytest

from graphlens.analysis.generated_programs import generated_programs
from graphlens.analysis.kernel_nodes import GENERATED, UNKNOWN
from graphlens.analysis.kernels import nodes_of
from graphlens.analysis.operator_kinds import is_view
from graphlens.analysis.readable_graph import parse_readable
from graphlens.model import Graph, Kernel, Unavailable

torch = pytest.importorskip("torch")

import graphlens
from graphlens._torch import trace
from graphlens._torch.dynamo import current_compile_id
from small_models import SMALL_MODELS

_COMMENT = re.compile(r"Source Nodes: \[(.*?)\], Original ATen: \[(.*?)\]$")
_HANDLE = "# [Provenance debug handles] "

Names = dict[str, set[str]]


class Passes:
    """The operators that nodes were lowered from, as Inductor's passes see them.

    Attributes:
        seen: By compile id and stage (``joint``, before it is known), then by node.
    """

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str], Names] = {}

    def joint(self, graph):
        self.note(graph, "joint")

    def single(self, graph):
        inputs = [node.name for node in graph.nodes if node.op == "placeholder"]
        tangents = any(name.startswith("tangents") for name in inputs)
        self.note(graph, "backward" if tangents else "forward")

    def note(self, graph, stage):
        found = self.seen.setdefault((current_compile_id(), stage), {})
        for node in graph.nodes:
            operator = getattr(node.meta.get("original_aten"), "_overloadpacket", None)
            if node.op == "call_function" and operator is not None:
                found.setdefault(node.name, {operator.__name__})

    def of(self, graph: Graph) -> Names:
        """Those of a graph; of nodes that are gone before its own passes, as the joint one said."""
        stage = "backward" if graph.stage == "backward" else "forward"
        joint = self.seen[graph.compile_id, "joint"]
        return {**joint, **self.seen[graph.compile_id, stage]}


def compiled(name: str, train: bool):
    """The report of a model, and of each lowered graph what its nodes came from and which are left
    after all passes."""
    torch.manual_seed(0)
    model, inputs = SMALL_MODELS[name]()
    passes = Passes()
    # Passes of one's own keep Inductor from asking its caches of graphs.
    options = {
        "graphlens.show": "none",
        "joint_custom_pre_pass": passes.joint,
        "post_grad_custom_pre_pass": passes.single,
        "post_grad_custom_post_pass": passes.single,
    }
    records = []
    trace.subscribe(records.append)
    with graphlens.record() as lens, torch.set_grad_enabled(train):
        found = torch.compile(model.train(train), backend="graphlens", options=options)(**inputs)
        if train:
            first_of(found).sum().backward()
    trace.unsubscribe(records.append)
    report = lens.report()
    left = {
        (of, program.stage): {node.name for node in parse_readable(program.graph)[0]}
        for of in {record.compile_id for record in records}
        for program in generated_programs([r for r in records if r.compile_id == of])
    }
    lowered = [graph for graph in report.graphs if graph.stage != "dynamo"]
    assert {g.stage for g in lowered} == ({"forward", "backward"} if train else {"inference"})
    return report, [(g, passes.of(g), left[g.compile_id, g.stage]) for g in lowered]


def first_of(found):
    """The loss, or the first tensor, of what a model returns."""
    if isinstance(found, torch.Tensor):
        return found
    loss = getattr(found, "loss", None)
    return found[0] if loss is None else loss


def check_complete(graph: Graph) -> None:
    assert isinstance(graph.kernels, tuple), graph.kernels
    assert isinstance(graph.unassigned, tuple), graph.unassigned
    computed = {name for kernel in graph.kernels for name in nodes_of(kernel)}
    reasons = dict(graph.unassigned)
    for node in graph.operators:
        where = f"{graph.id} {node.name}"
        assert (node.name in computed) != (node.name in reasons), where
        reason = reasons.get(node.name, "view")
        assert reason != UNKNOWN, where
        assert (reason == "view") <= (node.name in computed or is_view(node)), where


def check_names(graph: Graph, came_from: Names, left: set[str]) -> int:
    """Each C++ kernel has the name that Inductor makes of its nodes; returns how many were seen."""
    library = operators_of(came_from, [k for k in graph.kernels if k.language not in GENERATED])
    first = {k.name: k for k in reversed(graph.kernels) if k.language == "C++"}
    for name, kernel in first.items():
        ours = operators_of(came_from, [kernel])
        must = {o for node in set(nodes_of(kernel)) & left for o in came_from.get(node, ())}
        text = re.sub(r"_\d+$", "", name).removeprefix("cpp_fused")
        assert spells(text, sorted(ours | library), must), f"{graph.id} {kernel.handle}: {ours}"
    return len(first)


def spells(text: str, names: list[str], must: set[str]) -> bool:
    """Whether a text is made of names in order, each with a dash before it, and has all it must."""
    if not names:
        return not text
    first, rest = names[0], names[1:]
    taken = text.removeprefix(f"_{first}")
    if taken != text and spells(taken, rest, must):
        return True
    return first not in must and spells(text, rest, must)


def check_comments(graph: Graph, came_from: Names, left: set[str]) -> int:
    """Each library's call is of the operators that the comment above it names."""
    comments = above_calls(str(graph.output_code))
    users = {node.name: node.inputs for node in graph.nodes}
    seen = 0
    for kernel in graph.kernels:
        if kernel.language in GENERATED or kernel.handle not in comments:
            continue
        sources, operators = comments[kernel.handle]
        ours = operators_of(came_from, [kernel])
        kept = {o for name in set(nodes_of(kernel)) & left for o in came_from.get(name, ())}
        assert ours & operators, f"{graph.id} {kernel.handle}"
        assert kept <= operators, f"{graph.id} {kernel.handle}"
        before = ancestors(nodes_of(kernel), users)
        fed = {operator for name in before for operator in came_from.get(name, ())}
        assert operators - ours <= fed, f"{graph.id} {kernel.handle}"
        if graph.stage != "backward":  # there torch names nodes of the backward graph
            assert set(kernel.origins) <= sources, f"{graph.id} {kernel.handle}"
        seen += 1
    return seen


def operators_of(came_from: Names, kernels: list[Kernel]) -> set[str]:
    return {
        operator
        for kernel in kernels
        for name in nodes_of(kernel)
        for operator in came_from.get(name, ())
    }


def above_calls(code: str) -> dict[str, tuple[set[str], set[str]]]:
    """By handle, source nodes and operators of the comment right before it."""
    found, last = {}, None
    for line in code.split("\n"):
        comment = _COMMENT.search(line)
        if comment:
            names = {name.rpartition(".")[2] for name in comment[2].split(", ")}
            last = set(comment[1].split(", ")), names
        elif _HANDLE in line and last is not None:
            found[line.partition(_HANDLE)[2].strip()] = last
            last = None
        elif line.strip():
            last = None
    return found


def ancestors(names, inputs) -> set[str]:
    found, left = set(), list(names)
    while left:
        for name in inputs.get(left.pop(), ()):
            if name not in found:
                found.add(name)
                left.append(name)
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute")  # Dynamo asks for it, in a graph break
@pytest.mark.usefixtures("compiles")
@pytest.mark.parametrize("train", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("name", SMALL_MODELS)
def test_every_operator_has_its_kernels(name, train):
    report, graphs = compiled(name, train)
    dynamo = {n.name for graph in report.graphs if graph.stage == "dynamo" for n in graph.nodes}
    named = commented = 0
    for graph, came_from, left in graphs:
        check_complete(graph)
        named += check_names(graph, came_from, left)
        commented += check_comments(graph, came_from, left)
        for kernel in graph.kernels:
            assert set(kernel.origins) <= dynamo
            assert not isinstance(kernel.not_fused, Unavailable)
        both = [(k.handle, each.kernel) for k in graph.kernels for each in k.not_fused]
        assert len(both) == len(set(both))
        assert {pair[::-1] for pair in both} == set(both)
    assert named > 3
    assert commented > 3
