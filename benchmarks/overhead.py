"""What graphlens costs against the backend it forwards to, measured side by side.

    python benchmarks/overhead.py            small BERT, some minutes
    python benchmarks/overhead.py --full     BERT-base; most of an hour

Calls: one compiled function under both backends in one process, in short alternating rounds, which
cancels the machine's noise; and one process for each backend, in pairs. Compilation: CPU seconds,
children included, each in a fresh process, in the order A B B A, with a fresh cache folder, and
with the C++ programs built before, which leaves Python's part: what GraphLens adds to. Ratios
are graphlens to inductor; 1 is no cost. Believe them only from a machine that does nothing else,
and where `--backend inductor`, the control, gives 1.
"""

import argparse
import atexit
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from spread import Ratio, ratio

WORKER = Path(__file__).with_name("worker.py")
MARK = "<!-- results: written by benchmarks/overhead.py -->"

T = TypeVar("T")
Pair = tuple[str, str]
Row = tuple[str, str, str, Ratio]


def main() -> None:
    arguments = _arguments()
    bert = "bert-base" if arguments.full else "bert-small"
    pair = (arguments.reference, arguments.backend)
    rows: list[Row] = []
    for workload in ("one-operator", bert):
        if "calls" in arguments.only:
            rows += _calls_in_one_process(workload, pair, arguments)
            rows += _calls_in_two_processes(workload, pair, arguments)
    if "rebuild" in arguments.only:
        _worker("rebuild", bert, arguments.reference)  # builds the C++ programs
        rows += _compilation("rebuild", bert, pair, arguments)
    if "compile" in arguments.only:
        rows += _compilation("compile", bert, pair, arguments)
    text = _markdown(rows, pair)
    print(text)
    if arguments.markdown:
        path = Path(arguments.markdown)
        before = path.read_text().partition(MARK)[0] if path.exists() else ""
        path.write_text(f"{before}{MARK}\n\n{text}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="BERT-base in place of a small BERT")
    parser.add_argument("--only", default="calls,rebuild,compile", help="some of the three")
    parser.add_argument("--pairs", type=int, default=6, help="pairs of processes")
    parser.add_argument("--rounds", type=int, default=200, help="rounds in each process")
    parser.add_argument("--backend", default="graphlens")
    parser.add_argument("--reference", default="inductor")
    parser.add_argument("--markdown", help="write the table into this file, after its mark")
    return parser.parse_args()


def _calls_in_one_process(workload: str, pair: Pair, arguments: argparse.Namespace) -> list[Row]:
    """Both backends in one process; which is compiled first alternates between processes."""
    taken: tuple[list[float], list[float]] = ([], [])
    for i in range(max(2, arguments.pairs // 2)):
        found = _worker("calls", workload, ",".join(_turned(pair, i)), str(arguments.rounds))
        for series, new in zip(taken, _turned(found, i), strict=True):
            series += new
    return [_row(f"call of {workload}, one process", "µs", 1e6, *taken)]


def _calls_in_two_processes(workload: str, pair: Pair, arguments: argparse.Namespace) -> list[Row]:
    medians: tuple[list[float], list[float]] = ([], [])
    for i in range(arguments.pairs):
        for series, backend in _turned(list(zip(medians, pair, strict=True)), i):
            (found,) = _worker("calls", workload, backend, str(arguments.rounds))
            series.append(statistics.median(found))
    return [_row(f"call of {workload}, two processes", "µs", 1e6, *medians)]


def _compilation(kind: str, workload: str, pair: Pair, arguments: argparse.Namespace) -> list[Row]:
    """CPU seconds of a training compile, cold or with the C++ programs built before."""
    runs: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for i in range(arguments.pairs):
        for series, backend in _turned(list(zip(runs, pair, strict=True)), i):
            series.append(_worker(kind, workload, backend))
    what = {"compile": "cold training compile", "rebuild": "training compile, C++ built before"}
    name = f"{what[kind]} of {workload}"
    return [
        _row(f"{name}, {part}", "CPU s", 1.0, *([run[key] for run in series] for series in runs))
        for key, part in (("compile", "compiling alone"), ("process", "whole process"))
    ]


def _turned(pair: Sequence[T], i: int) -> Sequence[T]:
    """The pair, the other way round on odd turns, so that no backend always goes first."""
    return pair if i % 2 == 0 else pair[::-1]


def _row(name: str, unit: str, scale: float, first: list[float], second: list[float]) -> Row:
    texts = (f"{statistics.median(series) * scale:.4g} {unit}" for series in (first, second))
    row = (name, *texts, ratio(first, second))
    print(f"{name}: {row[3]}", file=sys.stderr, flush=True)
    return row


def _worker(*arguments: str) -> Any:
    """Runs a worker in a fresh process; what is printed there goes nowhere.

    A cold compilation gets a fresh cache folder. The others share one, with the caches of graphs
    off, so that only the C++ programs are built once and not by each of them.
    """
    with tempfile.TemporaryDirectory(prefix="graphlens-bench-") as folder:
        out = Path(folder) / "result.json"
        environment = os.environ | {
            "HF_HUB_OFFLINE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "cache"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }
        if arguments[0] in ("calls", "rebuild"):
            environment["TORCHINDUCTOR_CACHE_DIR"] = _shared_folder()
            environment["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"
            environment["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
        command = [sys.executable, str(WORKER), *arguments, str(out)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


@cache
def _shared_folder() -> str:
    folder = tempfile.mkdtemp(prefix="graphlens-bench-built-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _markdown(rows: list[Row], pair: Pair) -> str:
    lines = [
        f"torch {version('torch')}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores ({_processor()}).",
        "",
        f"| measured | {pair[0]} | {pair[1]} | ratio | 95 % interval | quartiles | pairs |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, first, second, r in rows:
        lines.append(
            f"| {name} | {first} | {second} | {r.median:.3f} | {r.low:.3f} to {r.high:.3f} "
            f"| {r.quartiles[0]:.3f} and {r.quartiles[1]:.3f} | {r.pairs} |"
        )
    return "\n".join(lines) + "\n"


def _processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
