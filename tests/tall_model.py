"""A graph like that of a language model of 110 layers, written without torch: 10,072 nodes."""

from graphlens.model import Graph, Node, SourceLocation
from hand_graphs import call, graph, modules, output, placeholder, tensor

LAYERS = 110
NODES = 10_072
FILE = "/home/ann/app/llama.py"
KINDS = {
    "input_layernorm": "RMSNorm",
    "self_attn": "Attention",
    "post_attention_layernorm": "RMSNorm",
    "mlp": "MLP",
}


def tall_model() -> Graph:
    """Equal layers in a row, each with a norm, attention with rotary values, and an MLP."""
    nodes: list[Node] = [
        placeholder("ids", "input", "L['ids']", 1, 64),
        placeholder("cos", "input", "L['cos']", 1, 64, 16),
        placeholder("sin", "input", "L['sin']", 1, 64, 16),
        placeholder("mask", "input", "L['mask']", 1, 1, 64, 64),
        call(
            "embed",
            "torch.ops.aten.embedding.default",
            "ids",
            modules=modules("embed", "Embedding"),
        ),
    ]
    last = "embed"
    for number in range(LAYERS):
        layer = Layer(number, last)
        nodes += layer.nodes()
        last = layer.last
    while len(nodes) < NODES - 1:
        name = f"head_{len(nodes)}"
        nodes.append(call(name, "torch.ops.aten.relu.default", last))
        last = name
    return graph(*nodes, output(last), id="0/0.inference", stage="inference")  # fmt: skip


class Layer:
    """The nodes of one layer."""

    def __init__(self, number: int, before: str) -> None:
        self.number, self.last, self.made = number, before, []

    def nodes(self) -> list[Node]:
        first = self.last
        normed = self.norm("input_layernorm", first)
        attended = self.attention(normed)
        added = self.op("add", "self_attn", "", attended, first)
        mixed = self.mlp(self.norm("post_attention_layernorm", added))
        self.last = self.op("add", "mlp", "", mixed, added)
        return self.made

    def op(
        self, name: str, block: str, inner: str, *inputs: str, sizes: tuple[int, ...] = (1, 64, 64)
    ) -> str:
        path = f"layers.{self.number}.{block}" + (f".{inner}" if inner else "")
        types = ("ModuleList", "Layer", KINDS[block], "Linear")[: path.count(".") + 1]
        node = call(
            f"{name}_{self.number}_{len(self.made)}",
            f"torch.ops.aten.{name}.default",
            *inputs,
            tensors=(tensor(*sizes),),
            modules=modules(path, *types),
            source=SourceLocation(
                file=FILE, line=20 + len(self.made), function="forward", code=f"x = {name}(x)"
            ),
        )
        self.made.append(node)
        return node.name

    def weight(self, path: str, *sizes: int) -> str:
        name = f"w_{self.number}_{len(self.made)}"
        self.made.append(
            placeholder(name, "parameter", f"layers.{self.number}.{path}.weight", *sizes)
        )
        return name

    def norm(self, block: str, value: str) -> str:
        weight = self.weight(block, 64)
        value = self.op("_to_copy", block, "", value)
        square = self.op("pow", block, "", value)
        mean = self.op("mean", block, "", square)
        root = self.op("rsqrt", block, "", self.op("add", block, "", mean))
        back = self.op("_to_copy", block, "", self.op("mul", block, "", value, root))
        return self.op("mul", block, "", back, weight)

    def linear(self, block: str, inner: str, value: str) -> str:
        weight = self.weight(f"{block}.{inner}", 64, 64)
        turned = self.op("t", block, inner, weight, sizes=(64, 64))
        flat = self.op("view", block, inner, value, sizes=(64, 64))
        return self.op(
            "view", block, inner, self.op("mm", block, inner, flat, turned, sizes=(64, 64))
        )

    def rotated(self, value: str) -> str:
        block = "self_attn"
        left = self.op("slice", block, "", value)
        right = self.op("slice", block, "", value)
        turned = self.op("cat", block, "", self.op("neg", block, "", right), left)
        return self.op(
            "add", block, "",
            self.op("mul", block, "", value, "cos"), self.op("mul", block, "", turned, "sin"),
        )  # fmt: skip

    def attention(self, value: str) -> str:
        block = "self_attn"
        heads = []
        for name in ("q_proj", "k_proj", "v_proj"):
            made = self.linear(block, name, value)
            heads.append(self.op("transpose", block, "", self.op("view", block, "", made)))
        heads = [self.op("expand", block, "", self.op("clone", block, "", one)) for one in heads]
        query, key = self.rotated(heads[0]), self.rotated(heads[1])
        scores = self.op("matmul", block, "", query, self.op("transpose", block, "", key))
        scores = self.op("add", block, "", self.op("mul", block, "", scores), "mask")
        mixed = self.op("matmul", block, "", self.op("softmax", block, "", scores), heads[2])
        flat = self.op("view", block, "", self.op("transpose", block, "", mixed))
        return self.linear(block, "o_proj", flat)

    def mlp(self, value: str) -> str:
        gate = self.op("silu", "mlp", "", self.linear("mlp", "gate_proj", value))
        up = self.linear("mlp", "up_proj", value)
        return self.linear("mlp", "down_proj", self.op("mul", "mlp", "", gate, up))
