"""Report data: frozen, plain, and free of torch.

Everything a run produced is in these classes, so a report can be saved, loaded on a
machine without torch, compared and drawn. Nothing here computes; see ``analysis``.
"""

from graphlens.model.advice import NOT_TRIED, Counts, Fix, Trial
from graphlens.model.breaks import EagerOperators, GraphBreak
from graphlens.model.frames import Compilation, Frame
from graphlens.model.graph import (
    Dim,
    Failure,
    Graph,
    ModuleCall,
    Node,
    Subgraph,
    Symbol,
    TensorSpec,
)
from graphlens.model.note import Note
from graphlens.model.recompiles import Difference, GuardFailure, Recompile
from graphlens.model.record import TraceRecord
from graphlens.model.report import Environment, Probe, Report
from graphlens.model.schema import SCHEMA, from_json, to_json
from graphlens.model.source import Excerpt, SourceLocation
from graphlens.model.unavailable import Unavailable

__all__ = [
    "NOT_TRIED",
    "SCHEMA",
    "Compilation",
    "Counts",
    "Difference",
    "Dim",
    "EagerOperators",
    "Environment",
    "Excerpt",
    "Failure",
    "Fix",
    "Frame",
    "Graph",
    "GraphBreak",
    "GuardFailure",
    "ModuleCall",
    "Node",
    "Note",
    "Probe",
    "Recompile",
    "Report",
    "SourceLocation",
    "Subgraph",
    "Symbol",
    "TensorSpec",
    "TraceRecord",
    "Trial",
    "Unavailable",
    "from_json",
    "to_json",
]
