"""Whether compiled code leaves out a rounding that the program asked for, and where."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from graphlens.checks.cast_change import cast_change
from graphlens.checks.closeness import epsilon
from graphlens.checks.graph_calls import GraphCall, Outcome, WatchedGraph, run
from graphlens.checks.judge import graph_verdict, judge, lowest_precision
from graphlens.checks.reference import to_nearest
from graphlens.checks.rounding_search import Pair, evidence, gives
from graphlens.model import CastChange, SwitchTried

SWITCH = {"emulate_precision_casts": True}
SWITCH_CODE = "torch._inductor.config.emulate_precision_casts = True"

MOST_NODES = 40
"""Nodes that are looked at one by one; each takes a run of the graph."""

_CASTS = frozenset(
    {"to", "type", "type_as", "half", "bfloat16", "_to_copy", "convert_element_type"}
)
_NARROW = torch.finfo(torch.float32).eps


def precision_change(
    watched: WatchedGraph,
    call: GraphCall,
    eager: Outcome,
    compiled: Outcome,
    reference: Outcome | None,
    verdict: str = "diverges",
) -> tuple[tuple[CastChange, ...], tuple[SwitchTried, ...]]:
    """Looks for roundings to low precision that compiled code leaves out.

    The precision was changed where a rounding is found, or where a switch helps. Three ways lead
    there: compiled code gives what the graph gives without any rounding to low precision, a cast
    that the program wrote among them, in a tensor of a wider dtype; it diverges, and gives what
    the graph gives with one result left unrounded; or it diverges, and compiled again with
    ``emulate_precision_casts`` it agrees with eager.

    Args:
        watched: The graph.
        call: That was made.
        eager: What eager gave.
        compiled: What compiled code gave.
        reference: What is the truth; None where there is none.
        verdict: What the judge said of the graph.

    Returns:
        The roundings left out, those of written casts first, and the switch that was tried.
    """
    low = _low_nodes(watched.gm)
    failed = eager.error is not None or compiled.error is not None
    if verdict == "agrees" or failed or lowest_precision(watched.gm) <= _NARROW:
        return (), ()
    search = _Search(watched, call, evidence(eager, compiled))
    written = [node for node in low if _is_cast(node)]
    removed = search.all_left_out(low, written) if written and reference is not None else []
    if not removed and verdict != "diverges":
        return (), ()
    tried = _with_switch(watched, call, eager, reference)
    if not removed:
        removed = search.any_left_out(low)
    return tuple(
        cast_change(watched, node, "removed", _tensor(node).dtype) for node in removed
    ), tried


class _Search:
    """Runs a graph without certain roundings and sees whether that is what compiled code gave."""

    def __init__(self, watched: WatchedGraph, call: GraphCall, pairs: list[Pair]) -> None:
        self.watched = watched
        self.call = call
        self.pairs = pairs

    def all_left_out(
        self, low: Sequence[torch.fx.Node], written: Sequence[torch.fx.Node]
    ) -> list[torch.fx.Node]:
        """Written casts, and more nodes, without which all are left out."""
        coarsest = max(epsilon(_tensor(node).dtype) for node in written)
        self.pairs = [p for p in self.pairs if epsilon(p.compiled.dtype) < coarsest / 100]
        whole = frozenset(node.name for node in low)
        if not self.explains(lambda node: node is None or node in whole):
            return []
        removed = [node for node in written[:MOST_NODES] if not self._without(whole, node)]
        others = [node for node in low if node not in written]
        if removed and len(low) <= MOST_NODES:
            removed += [node for node in others if not self._without(whole, node)]
        return removed

    def any_left_out(self, low: Sequence[torch.fx.Node]) -> list[torch.fx.Node]:
        """Nodes of which one alone, left unrounded, explains compiled's results."""
        if len(low) > MOST_NODES:
            return []
        return [node for node in low if self.explains(node.name.__eq__)]

    def explains(self, exact: Callable[[str | None], bool]) -> bool:
        """Whether compiled gave what the graph gives with some nodes left unrounded."""

        def rounding(value: torch.Tensor, dtype: torch.dtype, node: str | None) -> torch.Tensor:
            if epsilon(dtype) <= _NARROW or exact(node):
                return value
            return to_nearest(value, dtype)

        return gives(self.watched, self.call, self.pairs, rounding)

    def _without(self, whole: frozenset[str], node: torch.fx.Node) -> bool:
        rest = whole - {node.name}
        return self.explains(lambda name: name is None or name in rest)


def _with_switch(
    watched: WatchedGraph, call: GraphCall, eager: Outcome, reference: Outcome | None
) -> tuple[SwitchTried, ...]:
    try:
        with call.around.restored():
            again = watched.compile(watched.gm, call.fresh(), SWITCH)
    except Exception:  # noqa: BLE001  a backend without the switch, or that fails with it
        return ()
    outcome = run(again, call)
    verdict, _ = graph_verdict(judge(watched, call, eager, outcome, reference))
    return (SwitchTried(code=SWITCH_CODE, verdict=verdict, helps=verdict == "agrees"),)


def _low_nodes(gm: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """Nodes that compute tensors of low precision."""
    return [
        node
        for node in gm.graph.nodes
        if node.op in ("call_function", "call_method", "call_module")
        and isinstance(value := node.meta.get("example_value"), torch.Tensor)
        and epsilon(value.dtype) > _NARROW
    ]


def _is_cast(node: torch.fx.Node) -> bool:
    """Whether the program wrote a cast to a coarser dtype here."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    source = node.args[0] if node.args else None
    if name.split(".")[0] not in _CASTS or not isinstance(source, torch.fx.Node):
        return False
    before: Any = source.meta.get("example_value")
    if not isinstance(before, torch.Tensor) or not epsilon(before.dtype):
        return False
    return epsilon(before.dtype) < epsilon(_tensor(node).dtype)


def _tensor(node: torch.fx.Node) -> torch.Tensor:
    value: torch.Tensor = node.meta["example_value"]
    return value
