"""Captures the graphs that tests of diagrams draw, and keeps them in tests/fixtures/graphs/.

    python tools/graph_fixtures.py                 the six models and all cases
    python tools/graph_fixtures.py --only models   or cases

The tests of diagrams need no torch then, and draw the same graphs on every machine. Paths are
cut to what is inside of ``site-packages`` or the folder of the cases.
"""

import argparse
import gzip
import re
import sys
from pathlib import Path

import msgspec
import torch

import graphlens
from casework import launch
from graphlens.model import Graph, Unavailable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from diagrams_worker import make  # noqa: E402  beside the benchmarks

FOLDER = ROOT / "tests" / "fixtures" / "graphs"
MODELS = ("resnet18", "bert", "gpt2", "vit", "llama32", "llama110")
TRAINED = ("resnet18", "bert", "gpt2", "vit")
NOT_KEPT = Unavailable("not kept")


def main() -> None:
    """Writes a file of each model, and one of all cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("models", "cases"))
    only = parser.parse_args().only
    FOLDER.mkdir(parents=True, exist_ok=True)
    if only != "cases":
        for name in MODELS:
            graphs = _captured(name, training=False)
            if name in TRAINED:
                graphs += [g for g in _captured(name, training=True) if g.stage == "forward"]
            _write(FOLDER / f"{name}.json.gz", {name: graphs})
    if only != "models":
        _write(FOLDER / "cases.json.gz", _cases())


def _captured(name: str, training: bool) -> list[Graph]:
    print(f"{name}, {'training' if training else 'inference'} ...", file=sys.stderr, flush=True)
    torch.compiler.reset()
    model, given = make(name)
    with torch.set_grad_enabled(training), graphlens.record() as recorded:
        options = {"graphlens.show": "none"}
        model = torch.compile(model.train(training), backend="graphlens_aot_eager", options=options)
        model(given)
    return [graph for graph in recorded.report().graphs if graph.stage != "backward"]


def _cases() -> dict[str, list[Graph]]:
    found: dict[str, list[Graph]] = {}
    with launch.Launcher(fork=True) as launcher:
        for path in sorted(launch.cases_folder().glob("*.py")):
            print(f"{path.stem} ...", file=sys.stderr, flush=True)
            answer = launcher.graphs(path)
            found[path.stem] = msgspec.json.decode(answer["graphs"], type=list[Graph])
    return found


def _write(path: Path, graphs: dict[str, list[Graph]]) -> None:
    kept = {name: [_stripped(graph) for graph in found] for name, found in graphs.items()}
    text = msgspec.json.encode(kept).decode()
    text = re.sub(r'"[^"]*?/(?=site-packages/|torch/)', '"', text)
    text = text.replace(str(launch.cases_folder()), "cases").replace(f"{ROOT}/", "")
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path.name}: {path.stat().st_size / 1000:,.0f} kB", file=sys.stderr)


def _stripped(graph: Graph) -> Graph:
    """Without what is not drawn, and what differs from run to run."""
    return msgspec.structs.replace(
        graph, code=NOT_KEPT, output_code=NOT_KEPT, hits=NOT_KEPT, compile_seconds=NOT_KEPT
    )


if __name__ == "__main__":
    main()
