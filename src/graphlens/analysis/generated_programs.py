"""The programs that Inductor generated in one compilation, each with what torch says of it.

Torch logs, for each program in turn: the ATen graph that code is generated for
(``inductor_post_grad_graph``), the program (``inductor_output_code``) and, where it was asked to,
which operators each kernel computes (``inductor_provenance_tracking_node_mappings``). A cache that
answers logs the same again. Seen on torch 2.14.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphlens.analysis.cuda_graph_use import cuda_graphs
from graphlens.analysis.fusion_refusals import FusionSaid, fusion_said
from graphlens.model import NOT_TOLD, CudaGraphs, TraceRecord, Unavailable

_AOT_ID = re.compile(r"AOT ID: \['\d+_(forward|backward|inference)'\]")
GRAPH = "inductor_post_grad_graph"
CODE = "inductor_output_code"
MAPPINGS = "inductor_provenance_tracking_node_mappings"
# Ours, told while a program is compiled; see `provenance`, `fusion` and `cuda_graphs` in `_torch`.
REPLACED = "graphlens_replaced_nodes"
FUSION = "graphlens_fusion"
CUDA_GRAPHS = "graphlens_cuda_graphs"


@dataclass
class GeneratedProgram:
    """A program.

    Attributes:
        stage: ``forward``, ``backward`` or ``inference``; empty where the program does not say.
        code: Its text.
        graph: Readable text of the ATen graph that it was generated for; empty when not known.
        kernels: By torch's name of a kernel's call, the ATen nodes it computes; None when not
            known.
        origins: By ATen node, the Dynamo nodes it came from.
        replaced: By ATen node, what Inductor's passes put in its place, each with the pass.
        fusion: What Inductor said while it fused operations; None when not known.
        cuda_graphs: Whether it is run as a CUDA graph.
    """

    stage: str
    code: str
    graph: str = ""
    kernels: Mapping[str, Sequence[str]] | None = None
    origins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    replaced: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    fusion: FusionSaid | None = None
    cuda_graphs: CudaGraphs | Unavailable = NOT_TOLD


def generated_programs(records: Sequence[TraceRecord]) -> list[GeneratedProgram]:
    """The programs of one compilation, in order."""
    programs: list[GeneratedProgram] = []
    graph = ""
    for record in records:
        if record.kind == GRAPH:
            graph = record.payload
        elif record.kind == CODE:
            programs.append(GeneratedProgram(_stage(record.payload), record.payload, graph))
            graph = ""
        elif record.kind == MAPPINGS and programs and programs[-1].kernels is None:
            programs[-1].kernels, programs[-1].origins = _mappings(record.payload)
        elif record.kind == REPLACED and programs:
            programs[-1].replaced = record.data
        elif record.kind == FUSION and programs:
            programs[-1].fusion = fusion_said(record.data)
        elif record.kind == CUDA_GRAPHS and programs:
            programs[-1].cuda_graphs = cuda_graphs(record.data)
    return programs


def _stage(code: str) -> str:
    named = _AOT_ID.search(code)
    return named[1] if named else ""


def _mappings(
    text: str,
) -> tuple[Mapping[str, Sequence[str]] | None, Mapping[str, Sequence[str]]]:
    try:
        found = json.loads(text)
    except ValueError:
        return None, {}
    if not isinstance(found, dict):
        return None, {}
    kernels = _names(found.get("cppCodeToPost"))
    return kernels or None, _names(found.get("postToPre"))


def _names(found: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(found, dict):
        return {}
    return {
        str(name): tuple(map(str, names))
        for name, names in found.items()
        if isinstance(names, (list, tuple))
    }
