"""Report data: frozen, plain, and free of torch.

Everything a run produced is in these classes, so a report can be saved, loaded on a
machine without torch, compared and drawn. Nothing here computes; see ``analysis``.
"""

from graphlens.model.events import (
    Compilation,
    Frame,
    GraphBreak,
    GuardFailure,
    Note,
    Recompile,
)
from graphlens.model.graph import Dim, Graph, ModuleCall, Node, Subgraph, Symbol, TensorSpec
from graphlens.model.record import TraceRecord
from graphlens.model.report import Environment, Probe, Report
from graphlens.model.schema import SCHEMA, from_json, to_json
from graphlens.model.source import SourceLocation
from graphlens.model.unavailable import Unavailable

__all__ = [
    "SCHEMA",
    "Compilation",
    "Dim",
    "Environment",
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
    "Unavailable",
    "from_json",
    "to_json",
]
