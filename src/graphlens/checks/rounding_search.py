"""Whether what compiled code gave is what a graph gives with some results rounded otherwise."""

import math
from dataclasses import dataclass

import torch

from graphlens.checks.closeness import allowed, close
from graphlens.checks.errors import comparable, dense, distance
from graphlens.checks.graph_calls import GraphCall, Outcome, WatchedGraph
from graphlens.checks.random_nodes import same_bits
from graphlens.checks.reference import Rounding, rounded

NEARER = 16.0
"""How many times nearer to a run without a rounding than to eager compiled code has to be.

At least in one tensor; in the others `NEAR`. A graph that leaves out all roundings is hundreds of
times nearer: 35000 times in ``bf16_cast_dropped`` on torch 2.13; 750 times, and 8 times in a sum,
on 2.14, which still rounds a constant. One that keeps a few roundings is not nearer, as those make
as much of a difference as those left out.
"""

NEAR = 4.0
"""As `NEARER`, for every tensor."""


@dataclass
class Pair:
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


def evidence(eager: Outcome, compiled: Outcome) -> list[Pair]:
    """Tensors that say how compiled code rounds: those in which it differs from eager."""
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
                found.append(Pair(part, at, ours, theirs))
    return found


def gives(watched: WatchedGraph, call: GraphCall, pairs: list[Pair], rounding: Rounding) -> bool:
    """Whether compiled code gave what the graph gives with results rounded as told."""
    backward = any(pair.part == "gradients" for pair in pairs)
    outcome, _ = rounded(watched.gm, call, backward, rounding)
    return outcome.error is None and explained(pairs, outcome)


def explained(pairs: list[Pair], outcome: Outcome) -> bool:
    """Whether compiled code gave what a run gave, and not what eager did."""
    times = [pair.nearer(outcome) for pair in pairs]
    return bool(times) and min(times) >= NEAR and max(times) >= NEARER
