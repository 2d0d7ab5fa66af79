"""Report data: frozen, plain, and free of torch.

Everything a run produced is in these classes, so a report can be saved, loaded on a
machine without torch, compared and drawn. Nothing here computes; see ``analysis``.
"""

from graphlens.model.accuracy import (
    NOT_COMPARED,
    VERDICTS,
    Accuracy,
    CastChange,
    Divergence,
    Errors,
    SwitchTried,
    TensorAccuracy,
)
from graphlens.model.advice import NOT_TRIED, Counts, Fix, Trial
from graphlens.model.breaks import EagerOperators, GraphBreak
from graphlens.model.ceilings import NO_CEILINGS, Ceilings, ProductSpeed, Speed
from graphlens.model.frames import Compilation, Frame
from graphlens.model.gpu_kernel import Estimate, KernelBinary
from graphlens.model.graph import Failure, Graph, Node, Subgraph, Symbol
from graphlens.model.graph_diff import Change, GraphDiff, NodePair, PartDiff, Replacement
from graphlens.model.kernel import (
    NO_REFUSALS,
    NOT_GENERATED,
    NOT_MAPPED,
    NOT_TOLD,
    CpuProgram,
    CudaGraphs,
    Kernel,
    KernelBuffer,
    NotFused,
)
from graphlens.model.kernel_timing import KERNELS_NOT_TIMED, Bound, KernelTimes
from graphlens.model.note import Note
from graphlens.model.recompiles import Difference, GuardFailure, Recompile
from graphlens.model.record import TraceRecord
from graphlens.model.report import Environment, Probe, Report
from graphlens.model.schema import SCHEMA, from_json, to_json
from graphlens.model.source import Excerpt, ModuleCall, SourceLocation
from graphlens.model.target import Peaks, Target
from graphlens.model.tensor import Dim, TensorSpec
from graphlens.model.timing import (
    NOT_TIMED,
    CandidateTiming,
    CompilePhase,
    Measured,
    Payback,
    StepPart,
    StepParts,
    Timing,
)
from graphlens.model.unavailable import Unavailable

__all__ = [
    "KERNELS_NOT_TIMED",
    "NOT_COMPARED",
    "NOT_GENERATED",
    "NOT_MAPPED",
    "NOT_TIMED",
    "NOT_TOLD",
    "NOT_TRIED",
    "NO_CEILINGS",
    "NO_REFUSALS",
    "SCHEMA",
    "VERDICTS",
    "Accuracy",
    "Bound",
    "CandidateTiming",
    "CastChange",
    "Ceilings",
    "Change",
    "Compilation",
    "CompilePhase",
    "Counts",
    "CpuProgram",
    "CudaGraphs",
    "Difference",
    "Dim",
    "Divergence",
    "EagerOperators",
    "Environment",
    "Errors",
    "Estimate",
    "Excerpt",
    "Failure",
    "Fix",
    "Frame",
    "Graph",
    "GraphBreak",
    "GraphDiff",
    "GuardFailure",
    "Kernel",
    "KernelBinary",
    "KernelBuffer",
    "KernelTimes",
    "Measured",
    "ModuleCall",
    "Node",
    "NodePair",
    "NotFused",
    "Note",
    "PartDiff",
    "Payback",
    "Peaks",
    "Probe",
    "ProductSpeed",
    "Recompile",
    "Replacement",
    "Report",
    "SourceLocation",
    "Speed",
    "StepPart",
    "StepParts",
    "Subgraph",
    "SwitchTried",
    "Symbol",
    "Target",
    "TensorAccuracy",
    "TensorSpec",
    "Timing",
    "TraceRecord",
    "Trial",
    "Unavailable",
    "from_json",
    "to_json",
]
