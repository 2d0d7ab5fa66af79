import re
import time
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from golden_files import check_golden
from graphlens.analysis.diagram import diagram
from graphlens.analysis.text_width import text_width
from graphlens.errors import UsageError
from graphlens.model import Graph
from graphlens.renderers.svg import SvgRenderer
from graphlens.renderers.svg_style import BADGES, style
from hand_graphs import branching, chain, graph, graphs, hostile, report, small, tangle

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text.encode("utf-8"))


@pytest.mark.parametrize("name", ["small", "branching", "hostile"])
def test_golden(name: str):
    of = {"small": small, "branching": branching, "hostile": hostile}[name]()
    check_golden(f"svg_{name}.svg", SvgRenderer().graph(of))


def test_golden_report():
    check_golden("svg_report.svg", SvgRenderer(theme="dark").report(report(chain(2), branching())))


def test_golden_nothing_captured():
    check_golden("svg_nothing.svg", SvgRenderer().report(report()))


def test_a_report_shows_what_dynamo_captured():
    lowered = graph(*small().nodes)
    lowered = Graph(id="0/0.forward", compile_id="0/0", stage="forward", nodes=lowered.nodes)
    text = SvgRenderer().report(report(small(), lowered, small()))
    assert text.count('class="t"') == 2
    assert "0/0 forward" not in text


def test_accessible_and_self_contained():
    root = parsed(SvgRenderer().graph(small()))
    assert root.get("role") == "img"
    assert [child.tag.removeprefix(SVG) for child in root[:3]] == ["title", "desc", "style"]
    assert root[0].text == "0/0 dynamo · forward (model.py:12) · 9 operators"
    assert root[1].text.startswith("9 boxes for 14 nodes, 9 of them operators; 9 lines")
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    text = SvgRenderer().graph(small())
    assert "var(" not in text  # other renderers draw those black
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text)
    assert "/home/ann" not in text


@pytest.mark.parametrize(("theme", "queries"), [("auto", 1), ("light", 0), ("dark", 0)])
def test_themes(theme: str, queries: int):
    text = SvgRenderer(theme=theme).graph(small())
    assert text.count("<style>") == 1
    assert text.count("@media (prefers-color-scheme:dark)") == queries


def test_unknown_theme():
    with pytest.raises(UsageError, match="give one of auto, light, dark"):
        SvgRenderer(theme="pink")


def test_tooltips_say_all_of_a_node():
    titles = [title.text for title in parsed(SvgRenderer().graph(small())).iter(f"{SVG}title")]
    conv = next(title for title in titles if title.startswith("conv:"))
    assert conv.splitlines() == [
        "conv: torch.conv2d(x, w)",
        "x = self.conv(x)",
        "w: L['self']._modules['conv']._parameters['weight'] 64×3×7×7 f32",
    ]


def test_the_legend_explains_what_is_there():
    words = [element.text for element in parsed(SvgRenderer().graph(chain(2))).iter(f"{SVG}text")]
    assert {"pointwise", "input", "output"} <= set(words)
    assert "normalisation" not in words
    assert "pointwise" not in SvgRenderer(legend=False).graph(chain(2))


def test_families_differ_by_more_than_colour():
    assert len({sign for _, sign, _ in BADGES.values()}) == len(BADGES)


def test_texts_fit_their_boxes():
    for group in parsed(SvgRenderer().graph(small())).iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if group.find(f"{SVG}title") is None or rect is None:
            continue
        right, texts = int(rect.get("width")), group.findall(f"{SVG}text")[1:]
        for text in texts:
            bold, size = text.get("class") == "l", 13 if text.get("class") == "l" else 11
            width = text_width(text.text, size, bold)
            if text.get("class") == "q p":
                assert int(text.get("x")) <= right
                others = [t for t in texts if t.get("y") == text.get("y") and t is not text]
                for other in others:
                    end = int(other.get("x")) + text_width(other.text, 11)
                    assert end < int(text.get("x")) - width
            else:
                assert int(text.get("x")) + width <= right
            assert int(text.get("y")) < int(rect.get("height"))


def test_hostile_names_are_only_text():
    root = parsed(SvgRenderer().graph(hostile()))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "text", "g", "path",
    }  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_any_graph_is_a_valid_picture(of: Graph):
    root = parsed(SvgRenderer().graph(of))
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    shown = "\n".join(titles)
    assert all(f"{box.name}:" in shown for box in diagram(of).boxes)
    assert SvgRenderer().graph(of) == SvgRenderer().graph(of)


def test_large_graphs_are_quick_and_fit_a_page():
    of = tangle(1, 3000, 4, 2)
    started = time.process_time()
    root = parsed(SvgRenderer().graph(of))
    assert time.process_time() - started < 10  # under 1 on a quiet machine
    width, height = int(root.get("width")), int(root.get("height"))
    assert max(width, height) < 4 * min(width, height)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_are_readable_on_every_ground(theme: str):
    sheet = style(theme)

    def colour(rule: str, name: str = "fill") -> str:
        return re.search(rf"^\.gl {re.escape(rule)}{{.*?\b{name}:(#\w+)", sheet, re.M)[1]

    grounds = [colour(f".{kind} rect") for kind, _, _ in BADGES.values()]
    for text in (colour("text"), colour(".q"), colour(".f")):
        assert min(_contrast(text, ground) for ground in grounds) >= 4.5
    for kind, _, _ in BADGES.values():
        assert _contrast(colour(f".{kind} .s"), colour(".k")) >= 4.5
    for ground in (".g", ".c0", ".c1"):
        assert _contrast(colour("text"), colour(ground)) >= 4.5
        assert _contrast(colour(".e", "stroke"), colour(ground)) >= 3
