"""GraphLens: see what torch.compile did to a program.

Importing this does not import torch, and prints nothing. Public names are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphlens.version import __version__

if TYPE_CHECKING:
    from graphlens.backends import backend
    from graphlens.capture.explain import explain
    from graphlens.capture.process import process_report as report
    from graphlens.capture.process import record
    from graphlens.checks.compare import compare
    from graphlens.checks.preview import preview
    from graphlens.errors import GraphLensError
    from graphlens.model import Graph, Report, Unavailable
    from graphlens.presenter import load
    from graphlens.two_graphs import diff

_NAMES = {
    "Graph": ("graphlens.model", "Graph"),
    "GraphLensError": ("graphlens.errors", "GraphLensError"),
    "Report": ("graphlens.model", "Report"),
    "Unavailable": ("graphlens.model", "Unavailable"),
    "backend": ("graphlens.backends", "backend"),
    "compare": ("graphlens.checks.compare", "compare"),
    "diff": ("graphlens.two_graphs", "diff"),
    "explain": ("graphlens.capture.explain", "explain"),
    "load": ("graphlens.presenter", "load"),
    "preview": ("graphlens.checks.preview", "preview"),
    "record": ("graphlens.capture.process", "record"),
    "report": ("graphlens.capture.process", "process_report"),
}
_NEED_TORCH = frozenset({"backend", "compare", "explain", "preview", "record", "report"})

__all__ = [
    "Graph",
    "GraphLensError",
    "Report",
    "Unavailable",
    "__version__",
    "backend",
    "compare",
    "diff",
    "explain",
    "load",
    "preview",
    "record",
    "report",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'graphlens' has no attribute {name!r}")
    if name in _NEED_TORCH:
        import_module("graphlens.requirements").require_torch()
    module, attribute = _NAMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
