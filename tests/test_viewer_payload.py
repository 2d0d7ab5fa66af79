"""The data and the script of the graph viewer, without a browser."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

import comparison_corpus as compared
import graphlens.renderers
from graphlens.analysis.diagram import whole_diagram
from graphlens.analysis.folded import folded
from graphlens.renderers.packed import gzipped, packed
from graphlens.renderers.script import ORDER, ScriptError, joined, viewer_script
from graphlens.renderers.viewer_facts import MARK
from graphlens.renderers.viewer_payload import viewer_payload
from graphlens.renderers.viewer_style import viewer_style
from hand_graphs import branching, graphs, hostile, small
from tall_model import LAYERS, NODES, tall_model
from test_folded import stacked

VIEWER = Path(graphlens.renderers.__file__).parent / "assets" / "viewer"


def members(picture):
    """The nodes of each box, as the viewer reads them."""
    found = []
    for steps in picture["members"]:
        at, nodes = 0, []
        for step in steps:
            at += step
            nodes.append(picture["facts"]["name"][at])
        found.append(nodes)
    return found


def arguments(payload, node):
    """The text of a node's arguments, as the viewer shows it."""
    facts = payload["pictures"][0]["facts"]
    parts = payload["strings"][facts["args"][node]].split(MARK)
    names = [facts["name"][node - back] for back in facts["inputs"][node]]
    return "".join(names[int(p)] if i % 2 else p for i, p in enumerate(parts))


def test_equal_layers_are_sent_once_and_name_the_nodes_of_all():
    payload = viewer_payload(stacked(12))
    (picture,) = payload["pictures"]
    assert len(picture["boxes"]) == 2 + 5 + 2
    (norm,) = [nodes for nodes in members(picture) if nodes[0] == "b0_norm"]
    assert norm == [f"b{number}_norm" for number in range(12)]
    assert picture["clusters"][0][5] == 12


@settings(max_examples=60)
@given(graphs())
def test_every_node_is_in_a_box_or_a_row_of_one(of):
    picture = viewer_payload(of)["pictures"][0]
    shown = {name for nodes in members(picture) for name in nodes}
    drawn = {name for box in folded(whole_diagram(of)).boxes for name in box.nodes}
    assert shown == drawn
    assert picture["facts"]["name"] == [node.name for node in of.nodes]


@settings(max_examples=60)
@given(graphs())
def test_arguments_and_inputs_come_back(of):
    payload = viewer_payload(of)
    for place, node in enumerate(of.nodes):
        assert arguments(payload, place) == ", ".join(node.args)
        facts = payload["pictures"][0]["facts"]
        names = [facts["name"][place - back] for back in facts["inputs"][place]]
        assert names == list(node.inputs)


def test_a_closed_module_says_what_is_in_it():
    payload = viewer_payload(stacked(12))
    strings, cluster = payload["strings"], payload["pictures"][0]["clusters"][0]
    label, operators, count = strings[cluster[7 + 2]], cluster[7 + 8], cluster[7 + 10]
    assert (label, operators, count) == ("Layer ×12", 60, 12)


def test_bodies_are_pictures():
    assert [p["name"] for p in viewer_payload(branching())["pictures"]] == [
        "",
        "cond_true_0",
        "cond_false_0",
    ]


def test_what_a_comparison_found_is_there():
    payloads = [viewer_payload(graph) for graph in compared.compared().graphs]
    words = [word for one in payloads for o in one["overlays"] for word in o["words"].values()]
    assert any("first wrong" in word for word in words)
    assert viewer_payload(small())["overlays"] == []


def test_texts_are_without_control_characters_and_not_endless():
    text = json.dumps(viewer_payload(hostile()), ensure_ascii=False)
    assert not re.search(r"[\x00-\x1f\u202e\ud800-\udfff]", text)
    assert not re.search(r"(?<!\\)\\u00[01]", text.replace("\\u0000", ""))
    nasty = small().nodes[4]
    long = type(nasty)(name="n", op="call_function", target="t" * 9000)
    (found,) = [s for s in viewer_payload(type(small())(id="", compile_id="", stage="",
                nodes=(long,)))["strings"] if s.startswith("tt")][:1]  # fmt: skip
    assert len(found) < 2100


def test_packed_is_the_same_each_time_and_markup_cannot_end_it():
    data = {"a": "</script><!--&'\"\u2028\ud800"}
    assert packed(data) == packed(data)
    plain = packed(data, compress=False)
    assert not set("<>&") & set(plain)
    assert json.loads(plain) == data
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", packed(data))
    assert gzipped(b"x")[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def test_ten_thousand_nodes_are_small():
    payload = viewer_payload(tall_model())
    assert len(payload["pictures"][0]["facts"]["name"]) == NODES
    assert len(payload["pictures"][0]["boxes"]) < 150
    assert max(map(len, payload["pictures"][0]["members"])) >= LAYERS
    assert len(packed(payload)) < 160_000


def test_colours_are_those_of_the_pictures():
    style = viewer_style()
    assert len(style["families"]) == len(style["light"]["kinds"]) == len(style["dark"]["kinds"])
    assert len(style["light"]["heats"]) == 6
    assert style["light"]["ground"] != style["dark"]["ground"]


def test_all_modules_are_in_the_script_and_use_no_markup():
    assert {path.stem for path in VIEWER.glob("*.js")} == set(ORDER)
    script = viewer_script()
    for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                   "new Function", "fetch(", "XMLHttpRequest", "import("):  # fmt: skip
        assert banned not in script
    assert "export " not in re.sub(r"//.*", "", script)
    for path in VIEWER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("// "), f"{path.name} does not say what it holds"
        assert len(text.splitlines()) < 250


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ({"a": "const x = 1;\n", "b": "function x() {}\n"}, "both define x"),
        ({"a": 'import { y } from "./b.js";\n', "b": "export const y = 1;\n"}, "does not come before"),
        ({"a": "const x = 1;\n", "b": 'import { x } from "./a.js";\n'}, "does not export x"),
        ({"a": 'import x from "./b.js";\n', "b": ""}, "not known here"),
        ({"a": "export default 1;\n", "b": ""}, "not known here"),
        ({"a": 'const x = "</script>";\n', "b": ""}, "end the script"),
    ],
)  # fmt: skip
def test_modules_that_do_not_fit_are_refused(modules, said):
    with pytest.raises(ScriptError, match=said):
        joined(modules, ("a", "b"))


def test_joined_modules_are_one_function():
    modules = {"a": "export const x = 1;\n", "b": 'import { x } from "./a.js";\nlet y = x;\n'}
    assert joined(modules, ("a", "b")) == (
        '(() => {\n"use strict";\n// a.js\nconst x = 1;\n\n// b.js\nlet y = x;\n})();\n'
    )
