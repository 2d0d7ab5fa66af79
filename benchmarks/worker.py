"""One fresh process of a measurement; started by ``overhead.py``.

worker.py calls WORKLOAD BACKEND[,BACKEND] ROUNDS OUT     seconds per call, by round
worker.py compile WORKLOAD BACKEND OUT                    CPU seconds of a compilation
worker.py rebuild WORKLOAD BACKEND OUT                    the same; the caller keeps a cache folder
"""

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import workloads

ROUND_SECONDS = 0.01


def calls(workload: str, backends: list[str], rounds: int) -> list[list[float]]:
    """Seconds per call in each round, a list a backend; two of them alternate as A B B A."""
    torch.set_num_threads(1)
    ready: list[Callable[[], Any]] = []
    with torch.no_grad():
        for backend in backends:
            target, inputs = workloads.make(workload)
            compiled = torch.compile(_inference(target), backend=backend)
            ready.append(lambda compiled=compiled, inputs=inputs: compiled(*inputs))
        for call in ready * 3:
            call()
        repeats = max(_fitting(call) for call in ready)
        taken: list[list[float]] = [[] for _ in backends]
        gc.disable()
        for i in range(rounds):
            order = list(zip(taken, ready, strict=True))
            for series, call in order if i % 2 == 0 else reversed(order):
                series.append(_timed(call, repeats))
    return taken


def compilation(workload: str, backend: str) -> dict[str, float]:
    """CPU seconds of this process and its children: of compiling alone, and of all it did.

    A trivial function is compiled first by Inductor itself, so that what Inductor does once in
    a fresh cache folder (headers, tests of the processor) does not dilute the first number.
    """
    target, inputs = workloads.make(workload)
    torch.compile(workloads.make("one-operator")[0])(torch.randn(8))
    before = _cpu_seconds()
    workloads.train(torch.compile(target, backend=backend), inputs)
    after = _cpu_seconds()
    return {"compile": after - before, "process": after}


def _inference(target: Callable[..., Any]) -> Callable[..., Any]:
    return target.eval() if isinstance(target, torch.nn.Module) else target


def _fitting(call: Callable[[], Any]) -> int:
    """How many calls make a round of about `ROUND_SECONDS`."""
    repeats = 1
    while (taken := _timed(call, repeats) * repeats) < ROUND_SECONDS / 2:
        repeats *= 2
    return max(1, round(repeats * ROUND_SECONDS / taken))


def _timed(call: Callable[[], Any], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - began) / repeats


def _cpu_seconds() -> float:
    """User and system time so far; a child counts once it has ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main(arguments: list[str]) -> None:
    kind, workload, backends, *rest = arguments
    if kind == "calls":
        result: object = calls(workload, backends.split(","), int(rest[0]))
    else:
        result = compilation(workload, backends)
    Path(rest[-1]).write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
