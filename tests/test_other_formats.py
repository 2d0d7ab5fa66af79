"""Diagrams as Mermaid, as a tree, as Model Explorer's JSON, as PNG and as PDF."""

import json
import shutil
import struct
import sys

import pytest

from golden_files import check_golden
from graphlens import registry
from graphlens.errors import OutputError, UsageError
from graphlens.model import Graph
from graphlens.renderers.mermaid import MermaidRenderer
from graphlens.renderers.model_explorer import ModelExplorerRenderer
from graphlens.renderers.tree import TreeRenderer
from hand_graphs import branching, call, graph, hostile, placeholder, report, small, tensor
from test_folded import stacked

GRAPHS = {"small": small(), "branching": branching(), "hostile": hostile(), "folded": stacked(12)}


@pytest.mark.parametrize("name", GRAPHS)
def test_mermaid(name):
    check_golden(f"mermaid_{name}.mmd", MermaidRenderer().graph(GRAPHS[name]))


@pytest.mark.parametrize("name", GRAPHS)
def test_tree(name):
    check_golden(f"tree_{name}.txt", TreeRenderer().graph(GRAPHS[name]))


@pytest.mark.parametrize("name", GRAPHS)
def test_model_explorer(name):
    text = ModelExplorerRenderer().graph(GRAPHS[name])
    if name != "folded":  # long, and the same as three times
        check_golden(f"model_explorer_{name}.json", text)
    for one in json.loads(text)["graphs"]:
        ids = [node["id"] for node in one["nodes"]]
        assert len(ids) == len(set(ids))
        for node in one["nodes"]:
            assert all(edge["sourceNodeId"] in ids for edge in node["incomingEdges"])


def test_model_explorer_knows_which_output_an_item_is():
    """Its own PyTorch adapter shows a question mark there (model-explorer issue 669)."""
    of = graph(
        placeholder("x", "input", "", 8, 64),
        call("pair", "torch.max", "x", tensors=(tensor(8), tensor(8, dtype="int64"))),
        call("second", "_operator.getitem", "pair", args=("pair", "1"), tensors=(tensor(8),)),
    )
    nodes = json.loads(ModelExplorerRenderer().graph(of))["graphs"][0]["nodes"]
    assert nodes[2]["incomingEdges"][0]["sourceNodeOutputId"] == "1"
    shapes = [item["attrs"][0]["value"] for item in nodes[1]["outputsMetadata"]]
    assert shapes == ["f32[8]", "i64[8]"]


def test_a_label_cannot_end_what_it_stands_in():
    text = MermaidRenderer().graph(hostile())
    for line in text.splitlines():
        if "[" in line:
            inside = line[line.index('["') + 2 : line.rindex('"]')]
            assert '"' not in inside
            assert "<" not in inside.replace("<br>", "")


def test_reports_of_several_graphs_and_of_none():
    two = report(small(), branching())
    assert MermaidRenderer().report(two).count("subgraph g") >= 2
    assert TreeRenderer().report(two).count("0/0 dynamo") == 4  # two graphs and two bodies
    assert len(json.loads(ModelExplorerRenderer().report(two))["graphs"]) >= 2
    assert "No graph was captured" in MermaidRenderer().report(report())
    assert "No graph was captured" in TreeRenderer().report(report())


def test_ten_thousand_characters():
    of = graph(call("x" * 10_000, "torch.ops.my." + "y" * 10_000 + ".default"))
    for kind in (MermaidRenderer, TreeRenderer):
        assert max(map(len, kind().graph(of).splitlines())) < 1000


def test_mistakes():
    with pytest.raises(UsageError, match="direction='up': give one of TB, LR, BT, RL"):
        MermaidRenderer(direction="up")
    with pytest.raises(UsageError, match="depth"):
        registry.renderer(".mmd", depht=1)


def _cairo() -> bool:
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


@pytest.mark.skipif(not _cairo(), reason="CairoSVG or the cairo library is not installed")
class TestPictures:
    def test_png(self, tmp_path):
        small().save(str(tmp_path / "g.png"), scale=1)
        stacked(12).save(str(tmp_path / "twice.png"))
        data = (tmp_path / "g.png").read_bytes()
        assert data.startswith(b"\x89PNG")
        svg = registry.renderer("svg").graph(small())
        width, height = struct.unpack(">II", data[16:24])
        assert f'width="{width}" height="{height}"' in svg
        # A white page alone, as CairoSVG makes it where it takes offence at a rule, is 1 kB.
        assert len(data) > 5_000

    def test_pdf(self, tmp_path):
        report(small()).save(str(tmp_path / "r.pdf"))
        data = (tmp_path / "r.pdf").read_bytes()
        assert data.startswith(b"%PDF")
        assert len(data) > 5_000

    def test_scale(self, tmp_path):
        with pytest.raises(UsageError, match="scale=0: give a number above 0"):
            small().save(str(tmp_path / "g.png"), scale=0)


def test_without_cairo_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(OutputError, match=r"pip install 'graphlens\[pictures\]'"):
        small().save(str(tmp_path / "g.png"))
    assert not (tmp_path / "g.png").exists()


@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz's dot is not installed")
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_drawn_by_dot(tmp_path, suffix):
    hostile().save(str(tmp_path / f"g{suffix}"), engine="dot", depth="leaf")
    data = (tmp_path / f"g{suffix}").read_bytes()
    assert {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix] in data
    assert len(data) > 2_000


def test_without_dot_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OutputError, match="needs graphviz's dot"):
        small().save(str(tmp_path / "g.svg"), engine="dot")
    small().save(str(tmp_path / "g.svg"), engine="own")
    assert "graphlens" not in (tmp_path / "g.svg").read_text()[:50]
    with pytest.raises(UsageError, match="engine='neato': give 'own' or 'dot'"):
        small().save(str(tmp_path / "g.svg"), engine="neato")
    with pytest.raises(UsageError, match="no option 'engine'"):
        small().save(str(tmp_path / "g.txt"), engine="dot")


def test_suffixes_save(tmp_path):
    of: Graph = small()
    for suffix in (".mmd", ".tree"):
        of.save(str(tmp_path / f"g{suffix}"))
        assert (tmp_path / f"g{suffix}").read_text()
