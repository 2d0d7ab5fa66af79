"""One fresh process of a measurement; started by ``compare.py``.

compare_worker.py compare MODEL PART BUDGET THREADS OUT    what a comparison says
compare_worker.py step MODEL BACKEND THREADS OUT           seconds and memory of plain steps
compare_worker.py cost MODEL BUDGET THREADS OUT            the same of a whole comparison
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import graphlens
from graphlens.model import Measured, Payback, Report, StepParts, Unavailable

Made = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]


def make(name: str, training: bool) -> Made:
    """A model and its arguments."""
    torch.manual_seed(0)
    model, inputs = _vision(name) if name in _VISION else _language(name)
    model.train(training)
    # Random numbers would make the comparison one of generators.
    for one in model.modules():
        if isinstance(one, torch.nn.Dropout):
            one.p = 0.0
    return model, inputs


_VISION = ("resnet18", "resnet50", "resnet101", "vgg16")


def _vision(name: str) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    import torchvision

    return getattr(torchvision.models, name)(), (torch.randn(1, 3, 224, 224),)


def _language(name: str) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    import transformers

    model: torch.nn.Module
    if name == "bert":
        model = transformers.BertModel(transformers.BertConfig(attn_implementation="sdpa"))
    else:
        config = transformers.GPT2Config(use_cache=False, attn_implementation="sdpa")
        model = transformers.GPT2Model(config)
    return _FirstOutput(model), (torch.randint(0, 1000, (1, 128)),)


class _FirstOutput(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> Any:
        return self.model(ids).last_hidden_state


def compared(name: str, part: str, budget: float) -> dict[str, str]:
    """What a comparison says, as texts of a table."""
    training = part == "training"
    function, inputs = make(name, training)
    extra = () if training else ("onednn",)
    with torch.set_grad_enabled(training):
        report = graphlens.compare(function, candidates=extra, budget=budget)(*inputs)
    return {**_of_graphs(report), **_of_step(report)}


def _of_graphs(report: Report) -> dict[str, str]:
    verdicts = [g.accuracy.verdict for g in report.graphs if not _missing(g.accuracy)]
    told = ", ".join(f"{verdicts.count(v)} x {v}" for v in dict.fromkeys(verdicts))
    whole = report.accuracy
    found = {
        "verdict": f"{'?' if isinstance(whole, Unavailable) else whole.verdict}; graphs: {told}",
        "onednn": "",
        "onednn_speedup": "",
    }
    for graph in report.graphs:
        if graph.stage != "dynamo" or isinstance(graph.timing, Unavailable):
            continue
        for one in graph.timing.candidates[2:]:
            found["onednn"] = _milliseconds(one.seconds)
            found["onednn_speedup"] = _times(one.speedup)
    return found


def _of_step(report: Report) -> dict[str, str]:
    step, pays = report.step, report.payback
    if not isinstance(step, StepParts):
        return dict.fromkeys(("eager", "inductor", "speedup", "pays", "covered"), str(step))
    assert isinstance(pays, Payback)
    calls = pays.calls
    return {
        "eager": _milliseconds(step.eager),
        "inductor": _milliseconds(step.seconds),
        "speedup": _times(step.speedup),
        "pays": f"{calls.median:,.0f} calls ({calls.low:,.0f} to {calls.high:,.0f})"
        if isinstance(calls, Measured)
        else calls.reason.partition(":")[0],
        "covered": f"{step.covered:.1%}",
    }


def step(name: str, backend: str) -> dict[str, float]:
    """The first training step, which compiles, less a later one; and the most memory."""
    function, inputs = make(name, True)
    run = function if backend == "eager" else torch.compile(function, backend=backend)
    before = _peak()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run(*inputs).float().sum().backward()
        times.append(time.perf_counter() - start)
    return {"compiling": times[0] - min(times[1:]), "peak": _peak(), "before": before}


def cost(name: str, budget: float) -> dict[str, float]:
    """Seconds and most memory of a whole comparison, and the size of what graphs are given."""
    function, inputs = make(name, True)
    start = time.perf_counter()
    graphlens.compare(function, budget=budget)(*inputs)
    seconds = time.perf_counter() - start
    assert isinstance(function, torch.nn.Module)
    given = [*function.parameters(), *function.buffers(), *inputs]
    size = sum(one.numel() * one.element_size() for one in given)
    return {"seconds": seconds, "peak": _peak(), "inputs": float(size)}


def _missing(value: object) -> bool:
    return isinstance(value, Unavailable)


def _milliseconds(value: Measured | Unavailable) -> str:
    if isinstance(value, Unavailable):
        return value.reason.partition(" (")[0]
    median, low, high = (_three_digits(1e3 * one) for one in (value.median, value.low, value.high))
    return f"{median} ms ({low} to {high})"


def _three_digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def _times(value: Measured | Unavailable) -> str:
    if isinstance(value, Unavailable):
        return ""
    return f"{value.median:.2f} ({value.low:.2f} to {value.high:.2f})"


def _peak() -> float:
    """Bytes of the process's largest resident set."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def main() -> None:
    what, *arguments, threads, out = sys.argv[1:]
    if int(threads):
        torch.set_num_threads(int(threads))
    if what == "compare":
        found: dict[str, Any] = compared(arguments[0], arguments[1], float(arguments[2]))
    elif what == "step":
        found = step(arguments[0], arguments[1])
    else:
        found = cost(arguments[0], float(arguments[1]))
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
