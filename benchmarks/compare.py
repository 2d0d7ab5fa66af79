"""What `graphlens.compare` says of well-known models, and what a comparison costs.

    python benchmarks/compare.py                          all models; an hour on two cores
    python benchmarks/compare.py --only resnet18,bert     some
    python benchmarks/compare.py --only cost              only what a comparison costs
    python benchmarks/compare.py --markdown docs/benchmarks.md

Models: ResNet-18, 50, 101, VGG-16 (torchvision), BERT-base, GPT-2 (transformers), random weights,
inference and training, each compared in a process of its own: eager, Inductor, and TorchScript
with oneDNN Graph fusion in inference. The ratios are those of `graphlens.compare` itself: paired
by round, with the 95 % interval of their median; above 1 is faster than eager.

Cost: BERT-base in training. The time of compiling it (one plain compiled step in a fresh process
with an empty cache) against a whole comparison; the most memory of a plain eager step, of a plain
compiled one, and of a comparison. Each number is of a process of its own.
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

WORKER = Path(__file__).with_name("compare_worker.py")
BEGIN, END = "<!-- compare: written by benchmarks/compare.py -->", "<!-- compare: end -->"
MODELS = ("resnet18", "resnet50", "resnet101", "vgg16", "bert", "gpt2")
BUDGET = 60.0
TIMES, MEMORY = 3.0, 2.0  # most that a comparison may take, as the issue says


def main() -> None:
    arguments = _arguments()
    chosen = arguments.only.split(",") if arguments.only else [*MODELS, "cost"]
    rows = [
        _compared(name, training, arguments)
        for name in chosen
        if name in MODELS
        for training in (False, True)
    ]
    text = _header() + (_models_table(rows) if rows else "")
    if "cost" in chosen:
        text += _cost(arguments)
    print(text)
    if arguments.markdown:
        path = Path(arguments.markdown)
        path.write_text(with_section(path.read_text(), text, BEGIN, END))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help=f"of {', '.join(MODELS)}, cost")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of timing a model")
    parser.add_argument("--threads", type=int, default=0, help="torch's threads; 0 for its own")
    parser.add_argument("--markdown", help="write the tables into this file, between the marks")
    return parser.parse_args()


def _compared(name: str, training: bool, arguments: argparse.Namespace) -> dict[str, Any]:
    part = "training" if training else "inference"
    print(f"{name}, {part} ...", file=sys.stderr, flush=True)
    found = _worker("compare", name, part, str(arguments.budget), str(arguments.threads))
    return {"name": name, "part": part, **found}


def _worker(*arguments: str) -> dict[str, Any]:
    """Runs a worker in a fresh process with an empty cache; what it prints goes nowhere."""
    with tempfile.TemporaryDirectory(prefix="graphlens-bench-") as folder:
        out = Path(folder) / "result.json"
        environment = os.environ | {
            "HF_HUB_OFFLINE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "cache"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }
        command = [sys.executable, str(WORKER), *arguments, str(out)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(out.read_text())
        return found


def _header() -> str:
    return f"torch {version('torch')}, {machine()}.\n"


def _models_table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "",
        "| model | | results | eager | inductor | speed-up | oneDNN Graph | speed-up "
        "| pays after, cold | parts of a step |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (row["verdict"], row["eager"], row["inductor"], row["speedup"], row["onednn"],
                 row["onednn_speedup"], row["pays"], row["covered"])  # fmt: skip
        lines.append(f"| {row['name']} | {row['part']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cost(arguments: argparse.Namespace) -> str:
    threads = str(arguments.threads)
    plain = _worker("step", "bert", "inductor", threads)
    eager = _worker("step", "bert", "eager", threads)
    whole = _worker("cost", "bert", str(arguments.budget), threads)
    allowed = TIMES * plain["compiling"] + arguments.budget
    limit = MEMORY * eager["peak"] + whole["inputs"]
    return (
        "\n| BERT-base in training | |\n|---|---|\n"
        f"| compiling it | {plain['compiling']:.1f} s |\n"
        f"| a comparison with {arguments.budget:.0f} s of timing | {whole['seconds']:.1f} s |\n"
        f"| allowed: {TIMES:.0f} times compiling, and the timing | {allowed:.1f} s |\n"
        f"| most memory of an eager step | {_mib(eager['peak'])} |\n"
        f"| of a compiled step | {_mib(plain['peak'])} |\n"
        f"| of a comparison | {_mib(whole['peak'])} |\n"
        f"| inputs of the graphs | {_mib(whole['inputs'])} |\n"
        f"| allowed: {MEMORY:.0f} times an eager step, and the inputs | {_mib(limit)} |\n"
    )


def _mib(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"


if __name__ == "__main__":
    main()
