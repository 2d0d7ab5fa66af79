"""Which node of a graph a backend was busy with when it failed.

Neither torch's message nor its trace says so where a lowering or a pass of Inductor fails; the
frames of the traceback have the node (torch 2.11, 2.13 and 2.14).
"""

from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from graphlens._torch.probes import probe

# Of the interpreters, of Inductor's lowering and of its passes, the last by what they matched.
_NAMES = ("n", "node", "match", "self")


def failing_node(error: BaseException) -> torch.fx.Node | None:
    """The node that the innermost frame which has one was busy with; None where none has."""
    for frame in reversed(list(_frames(error))):
        for name in _NAMES:
            node = _node_in(frame.f_locals.get(name))
            if node is not None:
                return node
    return None


def _frames(error: BaseException) -> Iterator[FrameType]:
    """Frames of the error and of what it came from, innermost last."""
    seen: set[int] = set()
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        chain.append(cause)
        cause = getattr(cause, "inner_exception", None) or cause.__cause__ or cause.__context__
    for one in chain:
        traceback = one.__traceback__
        while traceback is not None:
            yield traceback.tb_frame
            traceback = traceback.tb_next


def _node_in(value: Any) -> torch.fx.Node | None:
    if isinstance(value, torch.fx.Node):
        return value if value.op not in ("placeholder", "output") else None
    from torch._inductor.pattern_matcher import Match

    if isinstance(value, Match):
        nodes = [node for node in value.nodes if isinstance(node, torch.fx.Node)]
        return nodes[-1] if nodes else None
    return None


@probe("nodes that Inductor's patterns match", seen_on="2.11, 2.13, 2.14")
def _probe_match() -> str:
    from torch._inductor.pattern_matcher import Match

    if "nodes" not in Match.__annotations__:
        raise TypeError("Match has no nodes")
    return "found"
