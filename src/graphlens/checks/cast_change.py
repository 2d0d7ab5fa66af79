"""A changed rounding as data."""

import torch

from graphlens.checks.errors import short
from graphlens.checks.graph_calls import WatchedGraph
from graphlens.model import CastChange


def cast_change(
    watched: WatchedGraph, node: torch.fx.Node, change: str, dtype: torch.dtype
) -> CastChange:
    """The rounding to a dtype at a node of a graph, ``removed`` or ``added``."""
    shown = next((n for n in watched.graph.nodes if n.name == node.name), None)
    return CastChange(
        node=node.name,
        operator=shown.target if shown else str(node.target),
        change=change,
        dtype=short(dtype),
        source=shown.source if shown else None,
        called_from=shown.called_from if shown else None,
    )
