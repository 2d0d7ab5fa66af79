"""Warm caches: the lowered graphs come from torch's records, and the report says so."""

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.analysis.cached_lines import with_present_lines
from graphlens.model import Node, SourceLocation, Unavailable
from programs import Stack

QUIET = {"graphlens.show": "none"}


def line(number: int, code: str, file: str = "now.py") -> SourceLocation:
    return SourceLocation(file=file, line=number, function="f", code=code)


def node(source: SourceLocation | None) -> Node:
    return Node(name="n", op="call_function", target="t", source=source)


def test_cached_lines_become_lines_of_the_present_program() -> None:
    present = [node(line(5, "y = x + 1")), node(line(6, "z = y")), node(line(9, "z = y"))]
    cached = [
        node(line(5, "y = x + 1")),  # the same place
        node(line(3, "y = x + 1", "old.py")),  # moved, and its text stands once
        node(line(4, "z = y", "old.py")),  # its text stands twice
        node(line(5, "q = 7")),  # the same place, another text
        node(None),
    ]
    found = with_present_lines(cached, present)
    assert [n.source and (n.source.file, n.source.line) for n in found] == [
        ("now.py", 5), ("now.py", 5), None, None, None,
    ]  # fmt: skip


def test_the_method_of_a_node_is_kept() -> None:
    (found,) = with_present_lines([node(line(1, "a"))], [node(line(1, "a"))])
    assert found.name == "n"


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_a_warm_cache_shows_the_same_graphs_and_says_so() -> None:
    reports = []
    for _ in range(2):
        torch._dynamo.reset()
        torch.manual_seed(0)
        compiled = torch.compile(Stack(), backend="graphlens", options=QUIET)
        with graphlens.record() as lens:
            compiled(torch.randn(4, 8)).sum().backward()
        reports.append(lens.report())
    cold, warm = reports
    assert [g.id for g in cold.graphs] == ["0/0.dynamo", "0/0.forward", "0/0.backward"]
    assert [g.cached for g in cold.graphs] == [False] * 3
    assert [n.code for n in cold.notes] == []
    assert [g.cached for g in warm.graphs] == [True] * 3
    assert [n.code for n in warm.notes] == ["cached"]
    for before, after in zip(cold.graphs, warm.graphs, strict=True):
        assert [(n.name, n.target, n.args, n.tensors) for n in before.nodes] == [
            (n.name, n.target, n.args, n.tensors) for n in after.nodes
        ]
        assert [n.source for n in before.nodes] == [n.source for n in after.nodes]
    assert "cpp_fused" in str(cold.graphs[1].output_code)
    assert isinstance(warm.graphs[2].compile_seconds, Unavailable)
    assert any(n.module == "layers.0" for n in cold.graphs[1].operators)


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_graphlens_and_inductor_share_their_caches() -> None:
    def run(backend: str, options: object) -> graphlens.Report:
        torch._dynamo.reset()
        with graphlens.record() as lens, torch.no_grad():
            torch.compile(Stack().eval(), backend=backend, options=options)(torch.ones(4, 8))
        return lens.report()

    run("inductor", None)
    assert all(g.cached for g in run("graphlens", QUIET).graphs)
