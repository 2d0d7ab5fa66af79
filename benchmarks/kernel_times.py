"""What the kernels of well-known models add up to, against the graph's own time.

    python benchmarks/kernel_times.py                       both models; ten minutes on two cores
    python benchmarks/kernel_times.py --only resnet18       one
    python benchmarks/kernel_times.py --markdown docs/benchmarks.md

BERT-base (transformers) and ResNet-18 (torchvision), random weights, in inference and in training,
each compared in a process of its own. All numbers are those of `graphlens.compare`: medians with
their 95 % intervals; kernels and graph are timed in the same rounds, and paired by round.
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

BEGIN = "<!-- kernel times: written by benchmarks/kernel_times.py -->"
END = "<!-- kernel times: end -->"
MODELS = ("bert", "resnet18")
BUDGETS = {"inference": 40.0, "training": 120.0}


def main() -> None:
    arguments = _arguments()
    if arguments.worker:
        name, part, out = arguments.worker
        Path(out).write_text(json.dumps(_measured(name, part)))
        return
    rows = [
        row
        for name in arguments.only.split(",")
        for part in BUDGETS
        for row in _in_a_process(name, part)
    ]
    text = _table(rows)
    print(text)
    if arguments.markdown:
        path = Path(arguments.markdown)
        path.write_text(with_section(path.read_text(), text, BEGIN, END))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--markdown", help="write the table into this file, between the marks")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_a_process(name: str, part: str) -> list[dict[str, Any]]:
    """A fresh process with an empty cache."""
    print(f"{name}, {part} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="graphlens-bench-") as folder:
        out = Path(folder) / "result.json"
        environment = os.environ | {
            "HF_HUB_OFFLINE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "cache"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }
        command = [sys.executable, __file__, "--worker", name, part, str(out)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        found: list[dict[str, Any]] = json.loads(out.read_text())
        return found


def _measured(name: str, part: str) -> list[dict[str, Any]]:
    import torch

    import graphlens
    from compare_worker import make

    training = part == "training"
    function, inputs = make(name, training)
    with torch.set_grad_enabled(training):
        report = graphlens.compare(function, accuracy=False, budget=BUDGETS[part])(*inputs)
    graphs = [graph for graph in report.graphs if graph.stage != "dynamo"]
    return [{"name": name, "threads": torch.get_num_threads(), **_row(graph)} for graph in graphs]


def _row(graph: Any) -> dict[str, Any]:
    from graphlens.model import KernelTimes

    times = graph.kernel_times
    if not isinstance(times, KernelTimes):
        return {"stage": graph.stage, "kernels": times.reason}
    parts = ("kernels", "graph", "covered", "program", "between", "around")
    numbers = {
        part: [getattr(times, part).median, getattr(times, part).low, getattr(times, part).high]
        for part in parts
    }
    return {
        "stage": graph.stage,
        "count": len(graph.kernels),
        "rounds": times.graph.rounds,
        "of_program": times.kernels.median / times.program.median,
        "mark": times.mark_seconds,
        **numbers,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    threads = ", ".join(sorted({str(row["threads"]) for row in rows}))
    lines = [
        f"torch {version('torch')}, {machine()}, torch's threads: {threads}.",
        "",
        "| model | | kernels | sum of kernels | graph | of the graph | of the program "
        "| between kernels | around the program | rounds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "count" not in row:
            lines.append(f"| {row['name']} | {row['stage']} | {row['kernels']} |")
            continue
        median, low, high = (f"{100 * one:.1f}" for one in row["covered"])
        cells = (row["count"], _ms(row["kernels"]), _ms(row["graph"]),
                 f"{median} % ({low} to {high})", f"{100 * row['of_program']:.1f} %",
                 _ms(row["between"]), _ms(row["around"]), row["rounds"])  # fmt: skip
        lines.append(f"| {row['name']} | {row['stage']} | " + " | ".join(map(str, cells)) + " |")
    marks = [row["mark"] for row in rows if "mark" in row]
    if marks:
        lines += ["", f"Timing a kernel takes {max(marks) * 1e9:.0f} ns at most, taken off."]
    return "\n".join(lines) + "\n"


def _ms(values: list[float]) -> str:
    median, low, high = (f"{1e3 * one:.3g}" for one in values)
    return f"{median} ms ({low} to {high})"


if __name__ == "__main__":
    main()
