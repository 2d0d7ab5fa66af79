"""One model's graphs, drawn by each; started by ``diagrams.py``.

diagrams_worker.py MODEL PART TIMEOUT OUT
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd  # noqa: TID251  to draw with torch's own
from torch._functorch.aot_autograd import make_boxed_func  # noqa: TID251
from torch.fx.passes.graph_drawer import FxGraphDrawer

import graphlens
from graphlens.renderers.svg import SvgRenderer

Found = dict[str, Any]
TALL = {"hidden_size": 96, "intermediate_size": 192, "vocab_size": 128}


def make(name: str) -> tuple[torch.nn.Module, torch.Tensor]:
    """A model and its input; as many operators as the real one, and small sizes."""
    torch.manual_seed(0)
    if name == "resnet18":
        import torchvision

        return torchvision.models.resnet18(), torch.randn(1, 3, 224, 224)
    import transformers as hf

    ids = torch.randint(0, 100, (1, 64))
    if name == "bert":
        return hf.BertModel(hf.BertConfig(**TALL)), ids
    if name == "gpt2":
        config = hf.GPT2Config(n_embd=96, vocab_size=128, use_cache=False)
        return hf.GPT2LMHeadModel(config), ids
    if name == "vit":
        config = hf.ViTConfig(hidden_size=96, intermediate_size=192)
        return hf.ViTModel(config), torch.randn(1, 3, 224, 224)
    layers = int(name.removeprefix("llama"))
    config = hf.LlamaConfig(
        **TALL | {"hidden_size": 64}, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, use_cache=False,
    )  # fmt: skip
    return hf.LlamaModel(config), ids


def main(name: str, part: str, timeout: float, out: Path) -> None:
    """Writes the rows."""
    training = part == "training"
    stage = "forward" if training else "inference"
    with torch.set_grad_enabled(training):
        modules = _modules(name, training)
        graphs = _graphs(name, training)
        nested = _torchview(name, training, timeout)
    rows = []
    for kind, label in (("dynamo", "Dynamo"), (stage, "ATen")):
        graph = graphs[kind]
        rows.append(
            {
                "model": name,
                "part": part,
                "graph": label,
                "nodes": len(graph.nodes),
                "folded": _ours(SvgRenderer(), graph),
                "all": _ours(SvgRenderer(depth="all", fold=False), graph),
                "drawer": _drawer(modules[kind], timeout),
                "torchview": nested if kind == "dynamo" else None,
            }
        )
    out.write_text(json.dumps(rows))


def _graphs(name: str, training: bool) -> dict[str, graphlens.Graph]:
    torch.compiler.reset()
    model, given = make(name)
    with graphlens.record() as recorded:
        torch.compile(model.train(training), backend="graphlens_aot_eager")(given)
    return {graph.stage: graph for graph in recorded.report().graphs}


def _modules(name: str, training: bool) -> dict[str, torch.fx.GraphModule]:
    """The graphs themselves, for torch's drawer."""
    found: dict[str, torch.fx.GraphModule] = {}

    def lowered(gm: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        found.setdefault("forward" if training else "inference", gm)
        return make_boxed_func(gm.forward)

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        found.setdefault("dynamo", gm)
        return aot_autograd(fw_compiler=lowered, bw_compiler=lowered)(gm, inputs)

    torch.compiler.reset()
    model, given = make(name)
    torch.compile(model.train(training), backend=backend)(given)
    return found


def _ours(renderer: SvgRenderer, graph: graphlens.Graph) -> Found:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        svg = renderer.graph(graph)
        times.append(time.perf_counter() - start)
    width, height = re.findall(r'(?:width|height)="(\d+)"', svg)[:2]
    return {
        "seconds": min(times), "bytes": len(svg.encode()),
        "width": int(width), "height": int(height),
    }  # fmt: skip


def _drawer(gm: torch.fx.GraphModule, timeout: float) -> Found:
    start = time.perf_counter()
    text = FxGraphDrawer(gm, "graph").get_dot_graph().to_string()
    return _by_dot(text, time.perf_counter() - start, timeout)


def _torchview(name: str, training: bool, timeout: float) -> Found:
    from torchview import draw_graph

    model, given = make(name)
    model.train(training)
    start = time.perf_counter()
    try:
        drawn = draw_graph(model, input_data=given, depth=3, expand_nested=True)
    except Exception as error:  # noqa: BLE001  what it cannot draw is a result, too
        return {"reason": f"raises {type(error).__name__}"}
    return _by_dot(drawn.visual_graph.source, time.perf_counter() - start, timeout)


def _by_dot(text: str, before: float, timeout: float) -> Found:
    start = time.perf_counter()
    try:
        done = subprocess.run(
            ["dot", "-Tsvg"], input=text.encode(), capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return {"reason": f"not done in {timeout:.0f} s"}
    seconds = before + time.perf_counter() - start
    size = re.search(rb'width="(\d+)[^"]*" height="(\d+)', done.stdout)
    if done.returncode or size is None:
        return {"reason": "dot fails"}
    return {
        "seconds": seconds, "bytes": len(done.stdout),
        "width": int(size[1]), "height": int(size[2]),
    }  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]))
