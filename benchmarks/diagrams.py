"""Diagrams against torch's own drawer and torchview: seconds, bytes, and size of the picture.

    python benchmarks/diagrams.py                           six models; half an hour on two cores
    python benchmarks/diagrams.py --only resnet18,bert
    python benchmarks/diagrams.py --markdown docs/benchmarks.md

Models: ResNet-18, BERT-base, GPT-2, ViT, Llama with 11, 32 and 110 layers (transformers; small
hidden sizes, as many operators as the real ones), random weights. Each is captured in inference
and in training; the graphs are Dynamo's and ATen's (in training the forward one).

Ours: the SVG from the report, folded as it is by itself (the best of three), and with all nodes.
Torch's: ``torch.fx.passes.graph_drawer.FxGraphDrawer`` with pydot, then ``dot -Tsvg``.
torchview: ``draw_graph`` at depth 3 with nested modules, then ``dot``. ``dot`` is stopped after
the timeout. pydot, torchview and graphviz's ``dot`` are needed: ``pip install pydot torchview``,
``apt-get install graphviz``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sections import machine, with_section

WORKER = Path(__file__).with_name("diagrams_worker.py")
BEGIN, END = "<!-- diagrams: written by benchmarks/diagrams.py -->", "<!-- diagrams: end -->"
MODELS = ("resnet18", "bert", "gpt2", "vit", "llama11", "llama32", "llama110")
TIMEOUT = 60.0


def main() -> None:
    """Prints the table, and writes it where it is asked for."""
    arguments = _arguments()
    rows: list[dict[str, Any]] = []
    for name in arguments.only.split(","):
        for part in ("inference", "training"):
            print(f"{name}, {part} ...", file=sys.stderr, flush=True)
            rows += _measured(name, part, arguments.timeout)
    text = _text(rows, arguments.timeout)
    print(text)
    if arguments.markdown:
        path = Path(arguments.markdown)
        path.write_text(with_section(path.read_text(), text, BEGIN, END))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds for each dot")
    parser.add_argument("--markdown", help="write the table into this file, between the marks")
    return parser.parse_args()


def _measured(name: str, part: str, timeout: float) -> list[dict[str, Any]]:
    """The rows of one model, made in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="graphlens-bench-") as folder:
        out = Path(folder) / "result.json"
        command = [sys.executable, str(WORKER), name, part, str(timeout), str(out)]
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRAPHLENS_SHOW": "none"}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        found: list[dict[str, Any]] = json.loads(out.read_text())
        return found


def _text(rows: list[dict[str, Any]], timeout: float) -> str:
    lines = [
        f"torch {version('torch')}, torchview {version('torchview')}, {machine()}. Seconds; "
        f"`dot` is stopped after {timeout:.0f} s.",
        "",
        "| model | | graph | nodes | ours, folded | all nodes | torch's drawer | torchview |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["model"], row["part"], row["graph"], f"{row['nodes']:,}"]
        cells += [_cell(row[kind]) for kind in ("folded", "all", "drawer", "torchview")]
        lines.append(f"| {' | '.join(cells)} |")
    worst = max(row["folded"]["seconds"] for row in rows)
    largest = max(row["folded"]["bytes"] for row in rows)
    lines += ["", f"Folded: at most {worst:.2f} s and {largest / 1000:,.0f} kB."]
    lines += _growth(rows)
    return "\n".join(lines) + "\n"


def _growth(rows: list[dict[str, Any]]) -> list[str]:
    """All nodes of 1,000 and of 10,000: Llama with 11 and with 110 layers."""
    found = {
        row["model"]: row
        for row in rows
        if row["model"] in ("llama11", "llama110")
        and (row["part"], row["graph"]) == ("inference", "ATen")
    }
    if len(found) < 2:
        return []
    few, many = (found[name]["all"]["seconds"] for name in ("llama11", "llama110"))
    nodes = [found[name]["nodes"] for name in ("llama11", "llama110")]
    return [
        f"All nodes: {nodes[0]:,} in {few:.3f} s, {nodes[1]:,} in {many:.2f} s: "
        f"{nodes[1] / nodes[0]:.1f} times the nodes take {many / few:.1f} times as long."
    ]


def _cell(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    if "reason" in found:
        return str(found["reason"])
    return (
        f"{found['seconds']:.2f} s, {found['bytes'] / 1000:,.0f} kB, "
        f"{found['width']:,} x {found['height']:,}"
    )


if __name__ == "__main__":
    main()
