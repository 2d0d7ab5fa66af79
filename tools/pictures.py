"""Draws the pictures of the README and of the documents into docs/pictures/.

    python tools/pictures.py

ResNet-18 and BERT are the graphs that the tests keep, so they need no torch; the program with
breaks, the graph before and after lowering and the one with kernels are captured anew.
"""

import sys
from pathlib import Path

import torch

import graphlens

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples")]

from drawn_graphs import model_graphs  # noqa: E402  found by the line above


def main() -> None:
    """Writes all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, depth, height in (("resnet18", 2, 1000), ("bert", 3, 2400)):
        graph = dict(model_graphs(name))["dynamo"]
        graph.save(str(FOLDER / f"{name}.svg"), depth=depth, height=height)
    dict(model_graphs("bert"))["dynamo"].save(str(FOLDER / "bert-memory.svg"), colour="memory")
    with graphlens.record() as recorded:
        options = {"graphlens.show": "none"}
        torch.compile(step, backend="graphlens_aot_eager", options=options)(torch.ones(8, 8))
    _save_map(recorded.report(), FOLDER / "map.svg")
    _save_lowered(FOLDER / "lowered.svg")
    _save_kernels(FOLDER / "kernels.svg")


def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    """A function of its own on the map."""
    print("scaled by", by)
    return x * by


def step(x: torch.Tensor) -> torch.Tensor:
    """Two breaks, one of them in a function that it calls."""
    y = torch.relu(x @ x)
    if y.sum() > 0:
        y = scaled(y, 0.5)
    return torch.softmax(y + x, -1)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Written out, operator by operator."""
    scores = q @ k.transpose(-2, -1) / 8.0
    return torch.softmax(scores, dim=-1) @ v


def _save_lowered(path: Path) -> None:
    torch.compiler.reset()
    given = [torch.randn(2, 4, 16, 64) for _ in range(3)]
    with torch.no_grad(), graphlens.record() as recorded:
        options = {"graphlens.show": "none"}
        torch.compile(attention, backend="graphlens", options=options)(*given)
    graphs = {graph.stage: graph for graph in recorded.report().graphs}
    graphlens.diff(graphs["dynamo"], graphs["inference"]).save(str(path), context=None)


def block(
    x: torch.Tensor, norm: torch.Tensor, up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """A normalization, two products with an activation between, and what came in added."""
    y = torch.nn.functional.layer_norm(x, (64,), norm)
    return x + torch.nn.functional.gelu(y @ up) @ down


def _save_kernels(path: Path) -> None:
    torch.compiler.reset()
    given = torch.randn(32, 64), torch.randn(64), torch.randn(64, 256), torch.randn(256, 64)
    with torch.no_grad(), graphlens.record() as recorded:
        options = {"graphlens.show": "none"}
        torch.compile(block, backend="graphlens", options=options)(*given)
    graphs = {graph.stage: graph for graph in recorded.report().graphs}
    graphs["inference"].save(str(path), colour="kernel")


def _save_map(report: graphlens.Report, path: Path) -> None:
    from graphlens import registry

    path.write_text(registry.renderer("map", root=str(ROOT)).report(report))


if __name__ == "__main__":
    main()
