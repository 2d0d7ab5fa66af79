import re
import shutil
import subprocess

import pytest

from golden_files import check_golden
from graphlens.errors import UsageError
from graphlens.model import ModuleCall
from graphlens.renderers.dot import DotRenderer
from hand_graphs import branching, call, chain, graph, hostile, placeholder, report, small, tangle


@pytest.mark.parametrize("name", ["small", "branching", "hostile"])
def test_golden(name: str):
    of = {"small": small, "branching": branching, "hostile": hostile}[name]()
    check_golden(f"dot_{name}.dot", DotRenderer().graph(of))


def test_golden_report():
    check_golden("dot_report.dot", DotRenderer().report(report(chain(2), chain(1))))


def test_nothing_captured():
    assert "No graph was captured" in DotRenderer().report(report())


def test_direction():
    assert "rankdir=LR" in DotRenderer(direction="LR").graph(small())
    with pytest.raises(UsageError, match="TB, LR, BT, RL"):
        DotRenderer(direction="down")


def test_modules_are_clusters():
    text = DotRenderer().graph(small())
    assert "subgraph cluster_m0" in text
    assert 'label="block · Block"' in text
    assert text.count(" -> ") == 9


def test_special_characters_stay_text():
    nodes = [placeholder("x"), call("<b>x</b>", r"my.a->b {c|d} \n \l", "x", args=('ij,kj->ik"',))]
    text = DotRenderer().graph(graph(*nodes))
    label = re.search(r"b1 \[label=\"(.*?)\" color", text)[1]
    assert r"a->b {c|d} \\n \\l" in label
    assert r"ij,kj->ik\"" in text
    inside = (ModuleCall(path="<m>"),)
    nodes = [call("<a>", "f", modules=inside), call("<b>", "g", "<a>", modules=inside)]
    text = DotRenderer().graph(graph(*nodes, function="<f>", compile_id="<", stage=">"))
    assert 'label="<m>"' in text
    assert "=<" not in text


def test_large_graphs_ask_dot_for_less():
    assert "nslimit" in DotRenderer(fold=False, depth="all").graph(tangle(1, 400, 3, 1))
    assert "nslimit" not in DotRenderer().graph(small())


@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz's dot is not installed")
@pytest.mark.parametrize("of", [small(), branching(), hostile()])
def test_dot_reads_it(of):
    done = subprocess.run(
        ["dot", "-Tsvg"], input=DotRenderer().graph(of).encode(), capture_output=True
    )
    assert done.returncode == 0
    assert not done.stderr
