"""The first operator of a graph whose compiled value, or gradient, leaves the reference.

By bisection over the graph's beginnings, each compiled again by the same backend, where the one
that ends before an operator is right and the one that ends with it is wrong. All values that the
rest needs are outputs of a beginning, so a wrong one is seen where it is made.
"""

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from graphlens.capture.module_stack import module_calls
from graphlens.capture.reader import node_source, node_target
from graphlens.checks.bodies import body_name, opened
from graphlens.checks.culprit import find_culprit
from graphlens.checks.graph_calls import CompiledFn, GraphCall, WatchedGraph
from graphlens.checks.node_values import node_gradients
from graphlens.checks.prefixes import operators, prefix, shown
from graphlens.model import Divergence, TensorAccuracy, Unavailable

# Compares a graph, what a backend made of it, and a call: each tensor it gives.
Compare = Callable[[torch.fx.GraphModule, CompiledFn, GraphCall], Sequence[TensorAccuracy]]
Progress = Callable[[str], None]

# From how many operators on all values are looked at first, which takes one compilation.
_GUESS_FROM = 12
_OUTPUT = "output "


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
    if not nodes or not search.diverging(nodes[-1]):
        return Unavailable(
            "the graph compiled again does not diverge: what is wrong depends on what else of the "
            "program is compiled with it, or on the order of its calls"
        )
    node = nodes[search.first(nodes)]
    while (inside := search.inside(node)) is not None:
        search, node = inside
    return search.found(node)


class _Search:
    def __init__(
        self, watched: WatchedGraph, call: GraphCall, compare: Compare, progress: Progress
    ) -> None:
        self.watched = watched
        self.call = call
        self.gradients = _gradients(watched.gm, call)
        self.compare = compare
        self.progress = progress
        self.known: dict[torch.fx.Node, list[TensorAccuracy]] = {}

    def inside(self, node: torch.fx.Node) -> tuple["_Search", torch.fx.Node] | None:
        """The first operator in the body of one; None where it has none, or none that shows it."""
        gm = opened(self.watched.gm, node)
        if gm is None:
            return None
        watched = dataclasses.replace(self.watched, gm=gm)
        search = _Search(watched, self.call, self.compare, self.progress)
        outside = {one.name for one in self.watched.gm.graph.nodes if body_name(one)}
        nodes = [one for one in operators(gm) if body_name(one) and one.name not in outside]
        if not nodes or not search.diverging(nodes[-1]):
            return None
        return search, nodes[search.first(nodes)]

    def first(self, nodes: Sequence[torch.fx.Node]) -> int:
        """The first of the operators with which the graph diverges; it does with the last."""
        right, wrong = -1, len(nodes) - 1
        guess = self._guess(nodes) if len(nodes) >= _GUESS_FROM else None
        tries = [] if guess is None else [guess, guess - 1]
        while wrong - right > 1:
            middle = tries.pop(0) if tries else (right + wrong) // 2
            if not right < middle < wrong:
                continue
            if self.diverging(nodes[middle]):
                wrong = middle
            else:
                right = middle
        return wrong

    def diverging(self, node: torch.fx.Node) -> list[TensorAccuracy]:
        """The tensors that diverge in the graph that ends with an operator."""
        if node not in self.known:
            self.progress(f"{self.watched.graph.id}: compiling up to {node.name}")
            part, call = self.beginning(node)
            self.known[node] = self._diverging(part, call)
        return self.known[node]

    def beginning(self, node: torch.fx.Node) -> tuple[torch.fx.GraphModule, GraphCall]:
        """The graph up to an operator, with the gradients that come to its outputs."""
        part = prefix(self.watched.gm, node)
        outputs: Any = part.graph.output_node().args[0]
        return part, dataclasses.replace(self.call, tangents=_tangents(outputs, self.gradients))

    def found(self, node: torch.fx.Node) -> Divergence:
        """What is reported of the operator."""
        tensors = self.diverging(node)
        forward = [one for one in tensors if one.role != "gradient"]
        worst = (forward or tensors)[0]
        self.progress(f"{self.watched.graph.id}: what of the compiler is at fault at {node.name}")
        culprit = find_culprit(self.watched, *self.beginning(node), self.compare)
        node = shown(node)
        name = body_name(node) or node.name
        source, called_from = node_source(node)
        return Divergence(
            node=name,
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

    def _guess(self, nodes: Sequence[torch.fx.Node]) -> int | None:
        """The first wrong value of one compilation that gives all of them."""
        if all(one.role == "gradient" for one in self.diverging(nodes[-1])):
            return None
        self.progress(f"{self.watched.graph.id}: compiling with all values as outputs")
        forward = dataclasses.replace(self.call.around, grad=False)
        part = prefix(self.watched.gm, nodes[-1], everything=True)
        call = dataclasses.replace(self.call, around=forward, tangents=None)
        wrong = self._diverging(part, call)
        numbers = [
            int(one.name.removeprefix(_OUTPUT)) for one in wrong if one.name.startswith(_OUTPUT)
        ]
        if not numbers:
            return None
        output = part.graph.output_node().args[0][min(numbers)]  # type: ignore[index]
        names = {output.name, *(one.name for one in output.all_input_nodes)}  # type: ignore[union-attr]
        return next((at for at, node in enumerate(nodes) if node.name in names), None)

    def _diverging(self, part: torch.fx.GraphModule, call: GraphCall) -> list[TensorAccuracy]:
        try:
            with call.around.restored():
                compiled = self.watched.compile(part, call.fresh())
        except Exception as error:  # noqa: BLE001  a backend's failure is one of the operator
            return [_failed(error)]
        tensors = self.compare(part, compiled, call)
        return [one for one in tensors if one.verdict == "diverges"]


def _gradients(gm: torch.fx.GraphModule, call: GraphCall) -> dict[str, Any]:
    if not call.around.grad:
        return {}
    try:
        return node_gradients(gm, call)
    except Exception:  # noqa: BLE001  made-up ones show most faults too
        return {}


def _tangents(
    outputs: Sequence[torch.fx.Node], gradients: Mapping[str, Any]
) -> list[torch.Tensor | None] | None:
    """The gradients of outputs in the whole graph; None for made-up ones."""
    found: list[torch.Tensor | None] = []
    for output in outputs:
        value = gradients.get(output.name)
        if output.name not in gradients and output.target is operator.getitem:
            source: Any = output.args[0]
            at: Any = output.args[1]
            value = gradients.get(source.name)
            value = value[at] if isinstance(value, tuple) else None
        found.append(value if isinstance(value, torch.Tensor) else None)
    return found if any(one is not None for one in found) else None


def _failed(error: Exception) -> TensorAccuracy:
    reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    missing = Unavailable(reason)
    return TensorAccuracy(
        name="compilation", role="output", shape=(), dtype="", verdict="diverges", reason=reason,
        eager=missing, compiled=missing, between=missing,
    )  # fmt: skip
