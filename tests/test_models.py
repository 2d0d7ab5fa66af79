"""Real models under backend="graphlens": bit-identical to Inductor, every graph shown."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import graphlens
from real_models import MODELS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiles"),
    pytest.mark.filterwarnings("ignore"),
]
QUIET = {"graphlens.show": "none"}


def tensors(output: object) -> list[torch.Tensor]:
    if isinstance(output, torch.Tensor):
        return [output]
    return [value for value in output.to_tuple() if isinstance(value, torch.Tensor)]


def run(name: str, backend: str, train: bool) -> list[torch.Tensor]:
    """Outputs, and in training every gradient and buffer, from the same seed."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model.train(train)
    options = QUIET if backend == "graphlens" else None
    compiled = torch.compile(model, backend=backend, options=options)
    torch.manual_seed(1)
    with torch.set_grad_enabled(train):
        outputs = tensors(compiled(*inputs))
    if not train:
        return outputs
    sum(output.float().square().mean() for output in outputs).backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert gradients
    return [*outputs, *gradients, *model.buffers()]


@pytest.mark.parametrize("train", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("name", MODELS)
def test_bit_identical_and_shown(name: str, train: bool, tmp_path: Path) -> None:
    expected = run(name, "inductor", train)
    with graphlens.record() as lens:
        got = run(name, "graphlens", train)
    assert len(got) == len(expected)
    assert all(torch.equal(a, b) for a, b in zip(got, expected, strict=True))

    report = lens.report()
    stages = [graph.stage for graph in report.graphs]
    assert stages == (["dynamo", "forward", "backward"] if train else ["dynamo", "inference"])
    assert report.breaks == ()
    assert report.graphs[0].hits == 1
    for graph in report.graphs:
        _check_graph(graph)
        _check_table(graph)
        _check_svg(graph, tmp_path / f"{graph.stage}.svg")


def _check_graph(graph: graphlens.Graph) -> None:
    assert graph.operators
    names = {node.name for node in graph.nodes}
    assert len(names) == len(graph.nodes)
    assert all(used in names for node in graph.nodes for used in node.inputs)
    assert all(node.tensors or node.value or node.target for node in graph.operators)


def _check_table(graph: graphlens.Graph) -> None:
    rows = graph.table("tsv", rows=None).splitlines()
    header = rows[0].split("\t")
    numbered = [row for row in rows[1:] if row.split("\t")[header.index("#")]]
    assert len(numbered) == len(graph.operators)
    plain = graph.table(width=100, rows=10)
    assert max(map(len, plain.splitlines())) <= 100
    if len(graph.operators) > 10:
        assert f'{len(graph.operators) - 10} more rows: options={{"graphlens.rows": None}}' in plain


def _check_svg(graph: graphlens.Graph, path: Path) -> None:
    graph.save(str(path))
    root = ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg")
    text = " ".join(root.itertext())
    some = graph.operators[len(graph.operators) // 2]
    assert some.name in text
