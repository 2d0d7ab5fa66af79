"""Whether Inductor runs a graph as a CUDA graph, and why it does not.

Inductor decides while it compiles, and again when it takes a graph from its cache. It writes the
reason on what it made, and only for a graph with a GPU in it also to its log. What it finds out
when the graph runs (an input that changes too often, memory in use elsewhere) is not seen here.
Seen on torch 2.11, 2.13 and 2.14.
"""

from collections.abc import Mapping
from typing import Any

from graphlens._torch.dynamo import current_attempt, current_compile_id
from graphlens._torch.probes import probe
from graphlens.analysis.generated_programs import CUDA_GRAPHS
from graphlens.model import TraceRecord


def wants_cuda_graphs(keywords: Mapping[str, Any]) -> bool:
    """Whether Inductor is to try, before it compiles a graph.

    Args:
        keywords: That it is given; the box in them is emptied when it gives up.
    """
    from torch._inductor import config

    box = keywords.get("cudagraphs")
    return bool(config.triton.cudagraphs if box is None else box)


def cuda_graph_facts(made: Any, wanted: bool, keywords: Mapping[str, Any]) -> TraceRecord:
    """What was decided for a graph that was just compiled, as a record of ours.

    Args:
        made: What Inductor made of it.
        wanted: From `wants_cuda_graphs`.
        keywords: That Inductor was given.
    """
    from torch._inductor import config

    info = getattr(made, "cudagraph_info", None)
    reasons = [getattr(made, "disabled_cudagraphs_reason", None)]
    reasons += list(getattr(info, "cudagraph_fail_reasons", None) or ())
    data = {
        "asked": bool(config.triton.cudagraphs),
        "wanted": wanted,
        "used": wanted and wants_cuda_graphs(keywords),
        "partitions": len(getattr(made, "partition_maps", None) or ()),
        "reasons": [str(reason) for reason in reasons if reason],
        "devices": sorted(map(str, getattr(made, "device_types", None) or ())),
    }
    attempt = current_attempt()
    return TraceRecord(
        kind=CUDA_GRAPHS, compile_id=current_compile_id(), attempt=attempt, data=data
    )


@probe("Inductor's use of CUDA graphs", seen_on="2.11, 2.13, 2.14")
def _probe_cuda_graphs() -> str:
    from torch._inductor import config
    from torch._inductor.output_code import CompiledFxGraph

    known = CompiledFxGraph.__annotations__
    for name in ("disabled_cudagraphs_reason", "cudagraph_info", "partition_maps", "device_types"):
        if name not in known:
            raise AttributeError(f"CompiledFxGraph has no {name}")
    return f"triton.cudagraphs is {config.triton.cudagraphs}"
