"""A backend that fails: which operator it was busy with, and whose line that is."""

from typing import Any

import pytest

import graphlens
from graphlens.renderers.findings import findings

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.usefixtures("compiles")


def waves(x: Any) -> Any:
    y = x.cos()
    return y.sin() + 1


def refuses_sin(gm: Any, _: Any) -> Any:
    for node in gm.graph.nodes:
        if node.target == "sin":
            raise ValueError("no sines here\nand more of it")
    return gm


def test_the_operator_and_its_line_are_named() -> None:
    backend = graphlens.backend(inner=refuses_sin, show="none")
    with graphlens.record() as lens, pytest.raises(Exception, match="no sines here"):
        torch.compile(waves, backend=backend)(torch.ones(2))
    report = lens.report()
    (graph,) = report.graphs
    assert graph.failure is not None
    assert (graph.failure.error, graph.failure.operator) == ("ValueError: no sines here", "sin")
    line = waves.__code__.co_firstlineno + 2
    assert graph.failure.source is not None
    assert (graph.failure.source.line, graph.failure.source.code) == (line, "return y.sin() + 1")
    (found,) = findings(report)
    assert (found.kind, found.line) == ("failed", line)
    assert found.title == "the backend raised on sin, and the error went to the caller"


def test_a_failure_away_from_any_node_says_so() -> None:
    def refuses(_: Any, __: Any) -> Any:
        raise ValueError("not today")

    backend = graphlens.backend(inner=refuses, show="none")
    with graphlens.record() as lens, pytest.raises(Exception, match="not today"):
        torch.compile(waves, backend=backend)(torch.ones(2))
    (graph,) = lens.report().graphs
    assert graph.failure is not None
    assert (graph.failure.operator, graph.failure.source) == ("", None)
