"""A graph of a small program, as compare keeps it."""

import torch

from graphlens.capture.options import LensOptions
from graphlens.checks.graph_calls import WatchedGraph
from graphlens.checks.watcher import Watcher


def watched_graph(function, *inputs, backend="eager", backward=False, dynamic=None) -> WatchedGraph:
    """Runs a function that makes one graph once, and its backward pass if asked."""
    torch._dynamo.reset()
    watcher = Watcher(LensOptions(show="none", inner=backend), {})
    output = torch.compile(function, backend=watcher.backend, dynamic=dynamic)(*inputs)
    if backward:
        output.sum().backward()
    (found,) = watcher.graphs.values()
    return found
