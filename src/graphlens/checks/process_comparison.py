"""``backend="graphlens_compare"``: graphs are kept while the program runs, and compared later."""

from collections.abc import Sequence
from typing import Any

import torch

from graphlens.analysis.compared_graphs import with_accuracies
from graphlens.capture.backend import OnCompiled
from graphlens.capture.options import LensOptions
from graphlens.capture.process import add_finisher
from graphlens.checks.compare_options import CompareOptions
from graphlens.checks.graph_accuracy import graph_accuracy
from graphlens.checks.graph_calls import CompiledFn, WatchedGraph
from graphlens.checks.watcher import Watcher
from graphlens.model import Accuracy, Report

_graphs: dict[str, WatchedGraph] = {}
_accuracies: dict[int, Accuracy] = {}  # by the id of a graph in _graphs


def compile_to_compare(
    gm: torch.fx.GraphModule,
    inputs: Sequence[Any],
    options: LensOptions,
    keywords: dict[str, Any],
    on_compiled: OnCompiled,
) -> CompiledFn:
    """Compiles a graph, and has it compared with eager when the report is asked for."""
    add_finisher(with_comparison)
    watcher = Watcher(options, keywords, on_compiled=on_compiled, graphs=_graphs)
    return watcher.backend(gm, inputs)


def with_comparison(report: Report) -> Report:
    """The process-wide report with the accuracy of each graph; a graph is compared once."""
    found: dict[str, Accuracy] = {}
    for name, watched in _graphs.items():
        if id(watched) not in _accuracies and (watched.calls or watched.error):
            _accuracies[id(watched)] = graph_accuracy(watched, CompareOptions())
        if id(watched) in _accuracies:
            found[name] = _accuracies[id(watched)]
    return with_accuracies(report, found)


def forget() -> None:
    """Drops what was kept."""
    _graphs.clear()
    _accuracies.clear()
