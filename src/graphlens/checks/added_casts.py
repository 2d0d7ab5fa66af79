"""Whether compiled code computes an operator in a coarser dtype than the program asks for."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map

from graphlens.checks.cast_change import cast_change
from graphlens.checks.graph_calls import GraphCall, Outcome, WatchedGraph, run
from graphlens.checks.rounding_search import evidence, explained
from graphlens.model import CastChange

_COARSER: Mapping[torch.dtype, tuple[torch.dtype, ...]] = {
    torch.float64: (torch.float32, torch.bfloat16, torch.float16),
    torch.float32: (torch.bfloat16, torch.float16),
    torch.float16: (torch.bfloat16,),
}


def added_cast(
    watched: WatchedGraph, call: GraphCall, name: str, eager: Outcome, compiled: Outcome
) -> CastChange | None:
    """The cast of an operator to a coarser dtype that explains what compiled code gave.

    Args:
        watched: The graph.
        call: That was made.
        name: The node where compiled code leaves the reference.
        eager: What eager gave.
        compiled: What compiled code gave.
    """
    node = next((one for one in watched.gm.graph.nodes if one.name == name), None)
    value = node.meta.get("example_value") if node is not None else None
    if node is None or not isinstance(value, torch.Tensor):
        return None
    pairs = evidence(eager, compiled)
    for dtype in _COARSER.get(value.dtype, ()):
        for whole in (True, False):
            coarse = _Coarse(watched.gm, name, value.dtype, dtype, whole)
            outcome = run(coarse.run, call, backward=False)
            if outcome.error is None and explained(pairs, outcome):
                return cast_change(watched, node, "added", dtype)
    return None


class _Coarse(torch.fx.Interpreter):
    """Runs a graph with the result of one operator rounded, or the whole operator in a dtype."""

    def __init__(
        self,
        gm: torch.fx.GraphModule,
        name: str,
        wide: torch.dtype,
        coarse: torch.dtype,
        whole: bool,
    ) -> None:
        super().__init__(gm)
        self.name, self.wide, self.coarse, self.whole = name, wide, coarse, whole

    def run_node(self, node: torch.fx.Node) -> Any:
        """One operator; the one that is looked at with casts around it."""
        made = super().run_node(node)
        return (
            self._cast(self._cast(made, self.wide, self.coarse), self.coarse, self.wide)
            if (node.name == self.name)
            else made
        )

    def fetch_args_kwargs_from_env(self, node: torch.fx.Node) -> Any:
        """Its arguments, in the coarser dtype."""
        found = super().fetch_args_kwargs_from_env(node)
        if node.name != self.name or not self.whole:
            return found
        return self._cast(found, self.wide, self.coarse)

    @staticmethod
    def _cast(values: Any, before: torch.dtype, after: torch.dtype) -> Any:
        def cast(value: Any) -> Any:
            fits = isinstance(value, torch.Tensor) and value.dtype is before
            return value.to(after) if fits else value

        return tree_map(cast, values)
