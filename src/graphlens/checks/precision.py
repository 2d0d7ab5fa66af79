"""Whether compiled code leaves out a rounding that the program asked for, and where."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graphlens.checks.closeness import allowed, close, epsilon
from graphlens.checks.errors import comparable, dense, distance, short
from graphlens.checks.graph_calls import GraphCall, Outcome, WatchedGraph, run
from graphlens.checks.judge import graph_verdict, judge, lowest_precision
from graphlens.checks.random_nodes import same_bits
from graphlens.checks.reference import rounded, to_nearest
from graphlens.model import CastChange, SwitchTried

SWITCH = {"emulate_precision_casts": True}
SWITCH_CODE = "torch._inductor.config.emulate_precision_casts = True"

NEARER = 16.0
"""How many times nearer to a run without a rounding than to eager compiled code has to be.

At least in one tensor; in the others `NEAR`. A graph that leaves out all roundings is hundreds of
times nearer: 35000 times in ``bf16_cast_dropped`` on torch 2.13; 750 times, and 8 times in a sum,
on 2.14, which still rounds a constant. One that keeps a few roundings is not nearer, as those make
as much of a difference as those left out.
"""

NEAR = 4.0
"""As `NEARER`, for every tensor."""

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
    search = _Search(watched, call, _evidence(eager, compiled))
    written = [node for node in low if _is_cast(node)]
    removed = search.all_left_out(low, written) if written and reference is not None else []
    if not removed and verdict != "diverges":
        return (), ()
    tried = _with_switch(watched, call, eager, reference)
    if not removed:
        removed = search.any_left_out(low)
    return tuple(_change(watched, node) for node in removed), tried


@dataclass
class _Pair:
    """A tensor in which compiled and eager differ by more than the dtype explains."""

    part: str
    at: int
    eager: torch.Tensor
    compiled: torch.Tensor

    def nearer(self, outcome: Outcome) -> float:
        """How many times nearer to a run than to eager compiled is."""
        found = getattr(outcome, self.part)[self.at]
        if not isinstance(found, torch.Tensor) or dense(found).shape != self.compiled.shape:
            return 0.0
        dtype = self.compiled.dtype
        if not (dtype.is_floating_point or dtype.is_complex):
            return math.inf if same_bits(self.compiled, found) else 0.0
        there, here = distance(self.compiled, found), distance(self.compiled, self.eager)
        if there.errors.nan or there.errors.inf:
            return 0.0
        lost = here.errors.nan or here.errors.inf
        far = there.truth_rms if lost else here.rms
        return far / there.rms if there.rms else math.inf


class _Search:
    """Runs a graph without certain roundings and sees whether that is what compiled code gave."""

    def __init__(self, watched: WatchedGraph, call: GraphCall, pairs: list[_Pair]) -> None:
        self.watched = watched
        self.call = call
        self.pairs = pairs
        self.backward = any(pair.part == "gradients" for pair in pairs)

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

        outcome, _ = rounded(self.watched.gm, self.call, self.backward, rounding)
        if outcome.error is not None or not self.pairs:
            return False
        times = [pair.nearer(outcome) for pair in self.pairs]
        return min(times) >= NEAR and max(times) >= NEARER

    def _without(self, whole: frozenset[str], node: torch.fx.Node) -> bool:
        rest = whole - {node.name}
        return self.explains(lambda name: name is None or name in rest)


def _evidence(eager: Outcome, compiled: Outcome) -> list[_Pair]:
    found = []
    for part in ("outputs", "gradients", "inputs"):
        pairs = zip(getattr(eager, part), getattr(compiled, part), strict=False)
        for at, (ours, theirs) in enumerate(pairs):
            if not isinstance(ours, torch.Tensor) or not isinstance(theirs, torch.Tensor):
                continue
            if comparable(ours, theirs) or same_bits(ours, theirs):
                continue
            ours, theirs = dense(ours), dense(theirs)
            if not close(theirs, ours, *allowed(ours.dtype)):
                found.append(_Pair(part, at, ours, theirs))
    return found


def _with_switch(
    watched: WatchedGraph, call: GraphCall, eager: Outcome, reference: Outcome | None
) -> tuple[SwitchTried, ...]:
    try:
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


def _change(watched: WatchedGraph, node: torch.fx.Node) -> CastChange:
    shown = next((n for n in watched.graph.nodes if n.name == node.name), None)
    return CastChange(
        node=node.name,
        operator=shown.target if shown else str(node.target),
        change="removed",
        dtype=short(_tensor(node).dtype),
        source=shown.source if shown else None,
        called_from=shown.called_from if shown else None,
    )
