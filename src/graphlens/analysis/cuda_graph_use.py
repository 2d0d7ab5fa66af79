"""Whether a graph is run as a CUDA graph, from what Inductor decided."""

from collections.abc import Mapping
from typing import Any

from graphlens.model import CudaGraphs

_FORWARD = "Inductor had given it up for the forward graph"
_UNSAID = "Inductor gave no reason"
_PREFIX = "skipping cudagraphs due to "


def cuda_graphs(data: Mapping[str, Any]) -> CudaGraphs:
    """What a record of ours says.

    Args:
        data: ``asked`` in the settings, ``wanted`` when the graph was begun, ``used`` when it was
            done, ``partitions``, ``reasons`` and ``devices``.
    """
    asked, used = bool(data.get("asked")), bool(data.get("used"))
    reasons = [_short(str(reason)) for reason in data.get("reasons", ())]
    # Of a graph without a GPU torch 2.14 says "multiple devices", and names none.
    if data.get("devices") == ["cpu"]:
        reasons = [f"{reason} (all of it is on the CPU)" for reason in reasons]
    # Inductor tells the backward graph of the same function no more than that.
    if asked and not used and not reasons:
        reasons = [_UNSAID if data.get("wanted") else _FORWARD]
    return CudaGraphs(
        asked=asked or bool(data.get("wanted")),
        used=used,
        partitions=int(data.get("partitions", 0)) if used else 0,
        skip_reasons=tuple(dict.fromkeys(reasons)),
    )


def _short(reason: str) -> str:
    """The reason without what is the same in all, and without an end that has nothing behind it."""
    return reason.strip().removeprefix(_PREFIX).rstrip(" :\n")
