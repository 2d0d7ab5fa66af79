"""The one way up from the data: how a report displays and saves itself.

``print(report)`` and ``report.save(path)`` belong on the report, but the data layer may not know
renderers or files. So the presenter, which stands above all renderers, is found by name when it
is first asked for. This is the only late import of the code base that goes up a layer.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from graphlens.model.graph import Graph
    from graphlens.model.graph_diff import GraphDiff
    from graphlens.model.report import Report

PRESENTER = "graphlens.presenter"


class Presenter(Protocol):
    """What the data asks of the layers above it."""

    def table(self, graph: Graph, format: str, **options: object) -> str: ...
    def summary(self, report: Report) -> str: ...
    def notebook(self, report: Report) -> str: ...
    def kernel(self, report: Report, name: str, **options: object) -> str: ...
    def save_graph(self, graph: Graph, path: str, **options: object) -> str: ...
    def check_folder(self, path: str) -> None: ...
    def save_report(self, report: Report, path: str, **options: object) -> str: ...
    def diff_text(self, diff: GraphDiff, **options: object) -> str: ...
    def save_diff(self, diff: GraphDiff, path: str, **options: object) -> str: ...


@cache
def presenter() -> Presenter:
    """The module that renders and writes."""
    return cast("Presenter", import_module(PRESENTER))
