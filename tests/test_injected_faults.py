"""Faults injected into Inductor's code are found, at exactly their operator."""

import linecache

import pytest

pytestmark = pytest.mark.usefixtures("compiles")

torch = pytest.importorskip("torch", reason="torch is not installed")
import graphlens
from faults.backward import BACKWARD
from faults.forward import FORWARD
from faults.large import LARGE
from faults.passes import MARK, Fault
from graphlens.model import Divergence

FAULTS = [*FORWARD, *BACKWARD, *LARGE]
if not torch.__version__.startswith("2.14"):
    # Each takes several compilations; all of them run on the newest supported torch.
    FAULTS = [*FORWARD[::8], *BACKWARD[::5]]


@pytest.mark.parametrize("fault", [pytest.param(one, id=one.name) for one in FAULTS])
def test_a_fault_is_found_at_its_operator(fault: Fault) -> None:
    injected = fault.made_pass()
    inputs = fault.inputs()

    report = graphlens.compare(fault.function, timing=False, options={fault.stage: injected})(
        *inputs
    )

    graph = next(one for one in report.graphs if one.stage == "dynamo")
    assert graph.accuracy.verdict == "diverges", graph.accuracy
    assert report.accuracy.verdict == "diverges" or fault.part == "backward", report.accuracy
    found = graph.accuracy.first_divergence
    assert isinstance(found, Divergence), found
    expected = _operators(graph, fault)
    assert found.node in expected, (found.node, expected)
    assert found.part == fault.part
    assert found.culprit == "custom_pass", found
    assert fault.stage in found.because
    if not fault.module:
        assert MARK in linecache.getline(found.file, found.line)


def _operators(graph, fault: Fault) -> list[str]:
    """The nodes of the marked line."""
    nodes = [*graph.nodes, *(node for body in graph.subgraphs for node in body.nodes)]
    calls = [node for node in nodes if node.op.startswith("call")]
    if fault.module:
        return [n.name for n in calls if n.modules and n.modules[-1].path.endswith(fault.module)]
    return [n.name for n in calls if n.source and MARK in n.source.code]
