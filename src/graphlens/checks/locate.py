"""The first operator of a graph whose compiled value, or gradient, leaves the reference.

By bisection over the graph's beginnings, each compiled again by the same backend, where the one
that ends before an operator is right and the one that ends with it is wrong. All values that the
rest needs are outputs of a beginning, so a wrong one is seen where it is made.
"""

import dataclasses
from collections.abc import Callable, Sequence

import torch

from graphlens.capture.module_stack import module_calls
from graphlens.capture.reader import node_source, node_target
from graphlens.checks.culprit import find_culprit
from graphlens.checks.graph_calls import CompiledFn, GraphCall, WatchedGraph
from graphlens.checks.prefixes import operators, prefix
from graphlens.model import Divergence, TensorAccuracy, Unavailable

# Compares a graph, what a backend made of it, and a call: each tensor it gives.
Compare = Callable[[torch.fx.GraphModule, CompiledFn, GraphCall], Sequence[TensorAccuracy]]
Progress = Callable[[str], None]


def locate(
    watched: WatchedGraph, call: GraphCall, compare: Compare, progress: Progress = lambda _: None
) -> Divergence | Unavailable:
    """Where a graph that diverges begins to.

    Args:
        watched: The graph.
        call: One that diverges.
        compare: Decides whether a beginning of the graph diverges.
        progress: Told what is being done.

    Returns:
        The operator with what of the compiler is at fault; unavailable where no beginning of the
        graph diverges when it is compiled by itself.
    """
    search = _Search(watched, call, compare, progress)
    nodes = operators(watched.gm)
    right, wrong = -1, len(nodes) - 1
    if not nodes or not search.diverging(nodes[wrong]):
        return Unavailable(
            "the graph compiled again does not diverge: what is wrong depends on what else of the "
            "program is compiled with it, or on the order of its calls"
        )
    while wrong - right > 1:
        middle = (right + wrong) // 2
        if search.diverging(nodes[middle]):
            wrong = middle
        else:
            right = middle
    return search.found(nodes[wrong])


class _Search:
    def __init__(
        self, watched: WatchedGraph, call: GraphCall, compare: Compare, progress: Progress
    ) -> None:
        self.watched = watched
        # The tangents of a beginning's outputs are not those of the whole.
        self.call = dataclasses.replace(call, tangents=None)
        self.compare = compare
        self.progress = progress
        self.known: dict[torch.fx.Node, list[TensorAccuracy]] = {}

    def diverging(self, node: torch.fx.Node) -> list[TensorAccuracy]:
        """The tensors that diverge in the graph that ends with an operator."""
        if node not in self.known:
            self.progress(f"{self.watched.graph.id}: compiling up to {node.name}")
            part = prefix(self.watched.gm, node)
            try:
                compiled = self.watched.compile(part, self.call.fresh())
            except Exception as error:  # noqa: BLE001  a backend's failure is one of the operator
                self.known[node] = [_failed(error)]
            else:
                tensors = self.compare(part, compiled, self.call)
                self.known[node] = [one for one in tensors if one.verdict == "diverges"]
        return self.known[node]

    def found(self, node: torch.fx.Node) -> Divergence:
        tensors = self.diverging(node)
        forward = [one for one in tensors if one.role != "gradient"]
        worst = (forward or tensors)[0]
        source, called_from = node_source(node)
        self.progress(f"{self.watched.graph.id}: what of the compiler is at fault at {node.name}")
        culprit = find_culprit(self.watched, prefix(self.watched.gm, node), self.call, self.compare)
        return Divergence(
            node=node.name,
            operator=node_target(node),
            part="forward" if forward else "backward",
            source=source,
            called_from=called_from,
            modules=module_calls(node),
            culprit=culprit.kind,
            because=culprit.because,
            tried=culprit.tried,
            errors=worst.compiled,
        )


def _failed(error: Exception) -> TensorAccuracy:
    reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    missing = Unavailable(reason)
    return TensorAccuracy(
        name="compilation", role="output", shape=(), dtype="", verdict="diverges", reason=reason,
        eager=missing, compiled=missing, between=missing,
    )  # fmt: skip
