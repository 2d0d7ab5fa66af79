"""Two compared graphs as a picture, from Python and from the command line."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import graphlens
from golden_files import check_golden
from graphlens.analysis.diff_diagrams import diff_diagrams
from graphlens.analysis.graph_diff import graph_diff
from graphlens.analysis.layout import layout
from graphlens.cli.main import cli
from graphlens.errors import OutputError, UsageError
from graphlens.renderers.diff_svg import DiffSvgRenderer
from hand_graphs import branching, call, graph, hostile, report, small, tensor
from test_folded import stacked
from test_layout import check

SVG = "{http://www.w3.org/2000/svg}"


def changed():
    """A stack with an operator more in one layer, and a wider head."""
    of = stacked(12, odd=5)
    nodes = [
        replace(node, tensors=(tensor(8, 128),)) if node.name == "head" else node
        for node in of.nodes
    ]
    return replace(of, nodes=tuple(nodes))


def texts(svg):
    return [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]


def marks(drawn):
    return {box.name: box.mark for box in drawn.boxes if box.mark != "same"}


@pytest.mark.parametrize("theme", ["auto", "dark"])
def test_golden(theme):
    svg = DiffSvgRenderer(theme=theme).diff(graph_diff(stacked(12), changed()))
    check_golden(f"diff_{theme}.svg", svg)


def test_what_differs_is_marked_and_the_rest_is_short():
    ((before, after),) = diff_diagrams(graph_diff(stacked(12), changed()))
    assert marks(before) == {"head": "changed"}
    assert marks(after) == {"b5_tanh": "added", "head": "changed"}
    quiet = [box.label for box in after.boxes if box.label.endswith("the same")]
    assert quiet
    assert len(after.boxes) < 40
    everything = diff_diagrams(graph_diff(stacked(12), changed()), context=None)
    assert len(everything[0][1].boxes) == 12 * 5 + 1 + 4


def test_what_is_near_in_one_is_drawn_in_the_other_too():
    ((before, after),) = diff_diagrams(graph_diff(stacked(12), changed()), context=1)
    shown = {box.name for box in before.boxes if not box.label.endswith("the same")}
    assert {"b5_act", "b5_add"} <= shown
    assert {"b5_act", "b5_tanh", "b5_add"} <= {box.name for box in after.boxes}


def test_nothing_is_lost():
    one, other = stacked(12), changed()
    ((before, after),) = diff_diagrams(graph_diff(one, other))
    for drawn, of in ((before, one), (after, other)):
        assert sorted(name for box in drawn.boxes for name in box.nodes) == sorted(
            node.name for node in of.nodes
        )
        check(drawn, layout(drawn))


def test_changes_are_said_in_words():
    svg = DiffSvgRenderer(context=None).diff(graph_diff(stacked(2), changed()))
    assert any("8×64" in text and "8×128" in text for text in texts(svg))


def test_bodies_and_hostile_labels():
    for of in (branching(), hostile()):
        svg = DiffSvgRenderer().diff(graph_diff(of, graph(*of.nodes[:-1])))
        assert ET.fromstring(svg).get("role") == "img"
    pairs = diff_diagrams(graph_diff(branching(), small()))
    assert [one is None for _, one in pairs] == [False, True, True]


def test_public(tmp_path):
    found = graphlens.diff(report(stacked(3)), stacked(3, odd=1))
    assert [node.name for node in found.added] == ["b1_tanh"]
    assert str(found).splitlines()[2].startswith("1 added")
    for suffix in ("svg", "txt", "json"):
        path = tmp_path / f"d.{suffix}"
        assert found.save(str(path)) == str(path)
        assert path.stat().st_size > 100
    assert len(json.loads((tmp_path / "d.json").read_text())["parts"]) == 1
    assert graphlens.diff(stacked(3), stacked(3)).is_same


def test_mistakes(tmp_path):
    with pytest.raises(UsageError, match=r"A int is no graph\. Give a graph of a report"):
        graphlens.diff(1, small())
    with pytest.raises(UsageError, match="2 captured graphs"):
        graphlens.diff(report(small(), replace(small(), id="1/0.dynamo")), small())
    found = graphlens.diff(small(), small())
    with pytest.raises(OutputError, match=r"saved as \.svg, \.txt, \.json"):
        found.save(str(tmp_path / "d.png"))
    with pytest.raises(UsageError, match="contxt"):
        found.save(str(tmp_path / "d.svg"), contxt=1)
    with pytest.raises(UsageError, match="context=-1"):
        found.save(str(tmp_path / "d.svg"), context=-1)


def test_command(tmp_path):
    one, other = tmp_path / "a.json", tmp_path / "b.json"
    report(stacked(3)).save(str(one))
    report(stacked(3, odd=1)).save(str(other))
    out = tmp_path / "d.svg"
    done = CliRunner().invoke(cli, ["diff", str(one), str(other), "-o", str(out), "--exit-code"],
                              standalone_mode=False)  # fmt: skip
    assert "1 added" in done.output
    assert out.read_text().startswith("<svg")
    assert done.return_value == 1
    same = CliRunner().invoke(
        cli, ["diff", str(one), str(one), "--graph", "0/0", "--exit-code"], standalone_mode=False
    )
    assert "No difference" in same.output
    assert same.return_value == 0
    wrong = CliRunner().invoke(cli, ["diff", str(one), str(one), "--graph", "7/0"])
    assert "no graph 7/0" in str(wrong.exception)


def test_a_graph_module():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Small(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) + 1

    class Larger(torch.nn.Module):
        def forward(self, x):
            return torch.tanh(torch.relu(x)) + 1

    found = graphlens.diff(torch.fx.symbolic_trace(Small()), torch.fx.symbolic_trace(Larger()))
    assert [node.target for node in found.added] == ["torch.tanh"]


def test_one_operator_more_in_a_chain():
    of = graph(call("a", "torch.relu"), call("b", "torch.sin", "a"))
    more = graph(call("q", "torch.relu"), call("r", "torch.cos", "q"), call("s", "torch.sin", "r"))
    ((_, after),) = diff_diagrams(graph_diff(of, more))
    assert marks(after)["r"] == "added"
