"""Previews five architectures in small sizes, inference and training, and prints what came of it.

    python tools/preview_models.py                          h100 and a100; some ten minutes
    python tools/preview_models.py --only bert --targets t4

Kernels are compiled for each target; for the first the program is run by Triton's interpreter and
compared with eager as well. Exit code 1 where a kernel did not compile, an operator has neither a
kernel nor a reason, or results diverge.
"""

import argparse
import sys
import time
from pathlib import Path

import torch

import graphlens
from graphlens.model import CpuProgram, Graph

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from small_models import SMALL_MODELS, small_model  # found by the line above

COLUMNS = (
    "model",
    "",
    "target",
    "graphs",
    "kernels",
    "Triton",
    "not compiled",
    "lost",
    "results",
    "s",
)
FINE = ("agrees", "rounding")


def main() -> int:
    """Prints a row for each; 1 where something is missing or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(SMALL_MODELS))
    parser.add_argument("--targets", default="h100,a100")
    chosen = parser.parse_args()
    print(f"torch {torch.__version__}\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    wrong = 0
    for name in chosen.only.split(","):
        for train in (False, True):
            for number, target in enumerate(chosen.targets.split(",")):
                cells, fine = _row(name, train, target, numerics=number == 0)
                wrong += not fine
                print(f"| {' | '.join(cells)} |", flush=True)
    return int(wrong > 0)


def _row(name: str, train: bool, target: str, numerics: bool) -> tuple[list[str], bool]:
    torch.compiler.reset()
    model, inputs = small_model(name, torch.float32)
    model.train(train)
    begin = time.perf_counter()
    with torch.set_grad_enabled(train):
        options = {"target": target, "numerics": numerics, "all_configs": False, "budget": 300.0}
        report = graphlens.preview(model, **options)(**inputs)
    seconds = time.perf_counter() - begin
    graphs = [graph for graph in report.graphs if graph.stage != "dynamo"]
    kernels = [kernel for graph in graphs for kernel in graph.kernels]
    triton = [kernel for kernel in kernels if kernel.language == "Triton"]
    failed = [kernel for kernel in triton if not isinstance(kernel.binaries, tuple)]
    lost = sum(len(_lost(graph)) for graph in graphs)
    verdicts = [graph.accuracy.verdict for graph in graphs] if numerics else []
    beside = all(isinstance(graph.cpu_program, CpuProgram) for graph in graphs)
    fine = not failed and not lost and beside and all(one in FINE for one in verdicts)
    part = "training" if train else "inference"
    counts = (len(graphs), len(kernels), len(triton), len(failed), lost)
    said = ", ".join(verdicts) or "not run"
    return [name, part, target, *map(str, counts), said, f"{seconds:.0f}"], fine


def _lost(graph: Graph) -> list[str]:
    """Operators with neither a kernel nor a reason for having none."""
    computed = {name for kernel in graph.kernels for name in kernel.nodes}
    explained = dict(graph.unassigned)
    return [n.name for n in graph.operators if n.name not in computed and n.name not in explained]


if __name__ == "__main__":
    sys.exit(main())
