"""Graphs written by hand, and generated ones: what is tested on them needs no torch."""

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from graphlens.analysis.break_hits import with_all_hits
from graphlens.model import (
    Environment,
    Frame,
    Graph,
    GraphBreak,
    ModuleCall,
    Node,
    Report,
    SourceLocation,
    Subgraph,
    TensorSpec,
    Unavailable,
)

USER_FILE = "/home/ann/app/model.py"


def tensor(*shape: int | str, dtype: str = "float32") -> TensorSpec:
    return TensorSpec(shape=shape, dtype=dtype, stride=(1,) * len(shape), device="cpu")


def modules(path: str, *types: str) -> tuple[ModuleCall, ...]:
    """`modules("a.b", "A", "B")`: the calls of a and of a.b."""
    parts = path.split(".")
    return tuple(
        ModuleCall(path=".".join(parts[: i + 1]), type=f"app.{kind}")
        for i, kind in enumerate(types)
    )


def placeholder(name: str, role: str = "input", origin: str = "", *shape: int | str) -> Node:
    return Node(
        name=name,
        op="placeholder",
        target=name,
        role=role,
        origin=origin,
        tensors=(tensor(*shape),) if shape else (),
    )


def call(name: str, target: str, *inputs: str, **fields: object) -> Node:
    fields.setdefault("tensors", (tensor(8, 64),))
    fields.setdefault("args", inputs)
    return Node(name=name, op="call_function", target=target, inputs=inputs, **fields)


def output(*inputs: str) -> Node:
    return Node(name="output", op="output", target="output", inputs=inputs, args=(str(inputs),))


def graph(*nodes: Node, **fields: object) -> Graph:
    fields.setdefault("function", "forward")
    fields.setdefault("source", SourceLocation(file=USER_FILE, line=12))
    fields = {"id": "0/0.dynamo", "compile_id": "0/0", "stage": "dynamo", **fields}
    return Graph(nodes=nodes, **fields)


def report(*graphs: Graph) -> Report:
    environment = Environment(graphlens="0", torch="2", python="3.11")
    return Report(environment=environment, graphs=graphs)


def small() -> Graph:
    """A block with a residual connection, parameters, a split and a mask that is one input."""
    line = SourceLocation(file=USER_FILE, line=20, code="x = self.conv(x)")
    block = ("Block",)
    return graph(
        placeholder("w", "parameter", "L['self']._modules['conv']._parameters['weight']", 64, 3, 7, 7),
        placeholder("x", "input", "L['x']", "s0", 3, 224, 224),
        placeholder("gamma", "parameter", "norm.weight", 64),
        placeholder("beta", "parameter", "norm.bias", 64),
        call("conv", "torch.conv2d", "x", "w", source=line, modules=modules("block.conv", *block, "Conv2d"),
             tensors=(tensor("s0", 64, 112, 112),)),
        call("norm", "torch.nn.functional.batch_norm", "conv", "gamma", "beta",
             modules=modules("block.norm", *block, "BatchNorm2d"), source=line),
        call("act", "torch.nn.functional.relu", "norm", modules=modules("block", *block)),
        call("add", "_operator.add", "act", "conv", modules=modules("block", *block)),
        call("split", "torch.chunk", "add", tensors=(tensor(4, 64), tensor(4, 64))),
        call("left", "_operator.getitem", "split", args=("split", "0"), tensors=(tensor(4, 64),)),
        call("right", "_operator.getitem", "split", args=("split", "1"), tensors=(tensor(4, 64),)),
        call("dot", "torch.functional.einsum", "left", "right", args=("ij,kj->ik", "left", "right")),
        call("total", "torch.sum", "dot", tensors=(tensor(),)),
        output("total"),
    )  # fmt: skip


def branching() -> Graph:
    """A torch.cond with its two bodies."""
    bodies = tuple(
        Subgraph(
            name=name,
            nodes=(placeholder("y", "input", "", 8, 64), call("z", target, "y"), output("z")),
        )
        for name, target in (("cond_true_0", "torch.sin"), ("cond_false_0", "torch.cos"))
    )
    return graph(
        placeholder("x", "input", "L['x']", 8, 64),
        call("p", "torch.sum", "x", tensors=(tensor(),)),
        Node(name="cond_true_0", op="get_attr", target="cond_true_0"),
        Node(name="cond_false_0", op="get_attr", target="cond_false_0"),
        call("c", "torch.ops.higher_order.cond", "p", "cond_true_0", "cond_false_0", "x"),
        call("item", "_operator.getitem", "c"),
        output("item"),
        subgraphs=bodies,
    )


def chain(length: int, **fields: object) -> Graph:
    nodes = [placeholder("x0", "input", "L['x']", 8, 64)]
    for i in range(length):
        nodes.append(call(f"x{i + 1}", "torch.relu", nodes[-1].name, **fields))
    return graph(*nodes, output(nodes[-1].name))


def hostile() -> Graph:
    """Names as a hostile or unlucky program could make them."""
    nasty = "a<b>&\"'\\ {x|y} ->\n\x00\x1b]0;\u202e\ud800 " + "é×漢字" * 3
    return graph(
        placeholder("x", "input", nasty, 8, 64),
        call(nasty, f"my.{nasty}", "x", args=(nasty,), kwargs=(("k", nasty),),
             tensors=(tensor(nasty, 2, dtype=nasty),),
             source=SourceLocation(file=f"/tmp/{nasty}.py", line=3, code=nasty),
             modules=(ModuleCall(path=nasty, type=nasty),)),
        call("b", "torch.ops.aten.relu.default", nasty, modules=(ModuleCall(path=nasty, type=nasty),)),
        call("<html>", "<lambda>", "b"),
        Node(name="v", op="call_method", target=nasty, inputs=("b",), value=nasty),
        output("<html>", "v"),
        function=nasty,
    )  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn, most: int = 40) -> Graph:
    """Any graph: inputs, parameters, items of tuples, modules in any order, hubs, dead ends."""
    nodes: list[Node] = []
    paths = ["", "a", "a.0", "a.0.b", "a.1", "b", "b.c.d"]
    for i in range(draw(st.integers(0, most))):
        name = f"n{i}"
        kind = draw(st.sampled_from(["input", "parameter", "call", "call", "call", "item", "hub"]))
        if kind in ("input", "parameter") or not nodes:
            nodes.append(placeholder(name, kind if kind == "parameter" else "input", "", 2, 3))
            continue
        path = draw(st.sampled_from(paths))
        around = modules(path, *("M" * (path.count(".") + 1))) if path else ()
        if kind == "hub":
            used = [nodes[0].name]
        else:
            used = draw(st.lists(st.sampled_from(nodes), max_size=1 if kind == "item" else 4))
            used = list(dict.fromkeys(node.name for node in used))
        target = "_operator.getitem" if kind == "item" else "torch.ops.aten.add.Tensor"
        several = (tensor(2), tensor(3)) if draw(st.booleans()) else (tensor("s0", 4),)
        nodes.append(call(name, target, *used, modules=around, tensors=several))
    if nodes and draw(st.booleans()):
        ends = draw(st.lists(st.sampled_from(nodes), max_size=12, unique=True))
        nodes.append(output(*(node.name for node in ends)))
    return graph(*nodes)


def tangle(seed: int, count: int, reach: int, depth: int) -> Graph:
    """A large graph with edges of all lengths, in modules of eight operators."""
    random = Random(seed)
    nodes = [placeholder("x", "input", "", 8, 64)]
    for i in range(count):
        back = [int(random.expovariate(1 / reach)) for _ in range(random.choice([1, 1, 2]))]
        used = dict.fromkeys(nodes[max(0, len(nodes) - 1 - far)].name for far in back)
        path = ".".join(f"m{i // 8 ** (depth - level)}" for level in range(depth))
        around = modules(path, *("M" * depth)) if depth else ()
        nodes.append(call(f"n{i}", "torch.add", *used, modules=around))
    return graph(*nodes, output(nodes[-1].name))


def hits_of(
    found: GraphBreak, graphs: Sequence[Graph], frames: Sequence[Frame] = ()
) -> int | Unavailable:
    """How often the program ran through one break, of a run with nothing else in it."""
    return with_all_hits([found], graphs, frames)[0].hits
