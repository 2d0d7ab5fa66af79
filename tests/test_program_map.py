"""The map of a whole program: what is on it, where it stands, and how it looks."""

import re
import time
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import comparison_corpus
import report_corpus as corpus
from golden_files import check_golden
from graphlens.analysis.even_columns import split_evenly
from graphlens.analysis.layout_data import Rect
from graphlens.analysis.program_map import program_map
from graphlens.analysis.program_map_boxes import SIZES
from graphlens.analysis.program_map_layout import PAGE, layout_map
from graphlens.analysis.text_fit import fitted, width_of, wrapped_to
from graphlens.analysis.text_width import text_width
from graphlens.errors import UsageError
from graphlens.model import (
    Compilation,
    Frame,
    Graph,
    GraphBreak,
    GuardFailure,
    Node,
    Recompile,
    Report,
    SourceLocation,
    TensorSpec,
    Unavailable,
)
from graphlens.renderers.map_boxes import panels
from graphlens.renderers.map_svg import MapRenderer
from graphlens.renderers.map_text import MapTextRenderer

SVG = "{http://www.w3.org/2000/svg}"
FILE = "/home/user/project/model.py"


def without_style(svg: str) -> str:
    """A picture without its colours, which have tests of their own and are shared by others."""
    return re.sub(r"<style>.*?</style>", "<style/>", svg, flags=re.S)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg.encode("utf-8"))


def graph(compile_id: str, stage: str = "dynamo", operators: int = 2, saved: int = 0,
          rows: int | str = 4) -> Graph:  # fmt: skip
    spec = TensorSpec(shape=(rows, 8), dtype="float32")
    nodes = [Node(name=f"s{i}", op="placeholder", target="s", role="saved", tensors=(spec,))
             for i in range(saved)]  # fmt: skip
    nodes.append(Node(name="w", op="placeholder", target="w", role="parameter", tensors=(spec,)))
    nodes.append(Node(name="t", op="placeholder", target="t", role="tangent", tensors=(spec,)))
    nodes += [Node(name=f"n{i}", op="call_function", target="torch.add", tensors=(spec,))
              for i in range(operators)]  # fmt: skip
    return Graph(id=f"{compile_id}.{stage}", compile_id=compile_id, stage=stage,
                 nodes=tuple(nodes), hits=3)  # fmt: skip


def frame(number: int, function: str, line: int, outcome: str = "compiled", variants: int = 1,
          file: str = FILE) -> Frame:  # fmt: skip
    compilations = tuple(
        Compilation(compile_id=f"{number}/{k}", outcome=outcome, seconds=0.25)
        for k in range(variants)
    )
    return Frame(id=str(number), function=function, file=file, line=line, outcome=outcome,
                 compilations=compilations)  # fmt: skip


def found(line: int, *ids: str, function: str = "forward", **fields: object) -> GraphBreak:
    fields = {"code": f"print({line})", "kind": "Failed to trace builtin operator",
              "cause": "print_call", "hits": 3, **fields}  # fmt: skip
    return GraphBreak(file=FILE, line=line, function=function, compile_ids=ids, **fields)


def training() -> Report:
    """A model in training whose forward breaks twice, the second time in a helper it calls."""
    frames = (
        frame(0, "forward", 10),
        frame(1, "torch_dynamo_resume_in_forward_at_14", 14),
        frame(2, "helper", 40, "no_graph"),
        frame(3, "torch_dynamo_resume_in_helper_at_42", 42),
        frame(4, "torch_dynamo_resume_in_forward_at_20", 20, variants=2),
        frame(5, "notify", 60, "skipped"),
    )
    made = ["0/0", "1/0", "3/0", "4/0", "4/1"]
    graphs = [g for name in made for g in (graph(name), graph(name, "backward", 5, len(name)))]
    stack = (
        SourceLocation(file=FILE, line=20, function="forward", code="x = helper(x)"),
        SourceLocation(file=FILE, line=42, function="helper", code="print(42)"),
    )
    return Report(
        environment=corpus.ENVIRONMENT,
        frames=frames,
        graphs=tuple(graphs),
        breaks=(
            found(14, "0/0", gb_code="GB0059"),
            found(42, "1/0", "2/0", function="helper", stack=stack),
            found(61, "5/0", function="notify", consequence="frame_skipped",
                  hits=Unavailable("the function runs eager")),
        ),
        recompiles=(
            Recompile(frame="4", function="forward", file=FILE, line=20, compile_id="4/1",
                      causes=(GuardFailure(failed="4/0", guard="g", subject="argument `x`, size",
                                           expected="4", actual="7"),)),
        ),
    )  # fmt: skip


def large(breaks: int = 100, functions: int = 60, variants: int = 5) -> Report:
    frames = [frame(0, "forward", 10)]
    frames += [frame(i, f"torch_dynamo_resume_in_forward_at_{10 + i}", 10 + i)
               for i in range(1, breaks + 1)]  # fmt: skip
    met = tuple(found(10 + i, f"{i - 1}/0") for i in range(1, breaks + 1))
    recompiles = []
    for i in range(functions):
        number = breaks + 1 + i
        many = 30 if i == 0 else variants if i % 3 else 1
        outcome = "skipped" if i % 7 == 6 else "compiled"
        frames.append(frame(number, f"function_{i}", 1000 + 10 * i, outcome, many))
        recompiles += [Recompile(frame=str(number), function=f"function_{i}", file=FILE,
                                 line=1000 + 10 * i, compile_id=f"{number}/{k}")
                       for k in range(1, many)]  # fmt: skip
    ids = [c.compile_id for one in frames for c in one.compilations if c.outcome == "compiled"]
    return Report(environment=corpus.ENVIRONMENT, frames=tuple(frames), breaks=met,
                  graphs=tuple(graph(name) for name in ids), recompiles=tuple(recompiles))  # fmt: skip


REPORTS = {
    "typical": corpus.typical,
    "empty": corpus.empty,
    "unknown": corpus.unknown,
    "hostile": corpus.hostile,
    "compared": comparison_corpus.compared,
    "training": training,
    "large": large,
}


@pytest.mark.parametrize("name", REPORTS)
def test_golden_picture(name: str):
    svg = MapRenderer(root="/home/user/project").report(REPORTS[name]())
    check_golden(f"map_{name}.svg", without_style(svg))


@pytest.mark.parametrize("name", REPORTS)
def test_golden_text(name: str):
    text = MapTextRenderer(root="/home/user/project").report(REPORTS[name]())
    check_golden(f"map_{name}.txt", text)


def test_what_follows_a_break_is_part_of_the_function():
    forward, helper, notify = program_map(training()).functions
    assert [part.line for part in forward.parts] == [0, 14, 20]
    assert [[one.line for one in part.breaks] for part in forward.parts] == [[14], [20], []]
    assert [one.own for part in forward.parts for one in part.breaks] == [True, False]
    assert (forward.graphs, forward.breaks, forward.recompiles) == (4, 1, 1)
    assert [part.line for part in helper.parts] == [0, 42]
    assert helper.outcome == "compiled"
    assert notify.outcome == "skipped"


def test_what_is_saved_for_the_backward():
    (first, *_), *_ = (part.variants for part in program_map(training()).functions[0].parts)
    assert first.saved is not None
    assert (first.saved.values, first.saved.bytes) == (3, 3 * 4 * 8 * 4)
    unsized = Report(environment=corpus.ENVIRONMENT,
                     graphs=(graph("0/0"), graph("0/0", "backward", saved=1, rows="s0")))  # fmt: skip
    ((part,),) = (one.parts for one in program_map(unsized).functions)
    assert part.variants[0].saved.values == 1
    assert isinstance(part.variants[0].saved.bytes, Unavailable)


def test_sides_of_a_branch_stand_side_by_side_and_a_line_that_breaks_twice_does_not():
    frames = (frame(0, "f", 10), *(frame(i, "torch_dynamo_resume_in_f_at_12", 12) for i in (1, 2)))
    graphs = tuple(graph(f"{i}/0") for i in range(3))
    met = found(12, "0/0", function="f")
    sides = Report(environment=corpus.ENVIRONMENT, frames=frames, graphs=graphs, breaks=(met,))
    (one,) = program_map(sides).functions
    assert [len(part.variants) for part in one.parts] == [1, 2]
    met = found(12, "0/0", "1/0", function="f")
    twice = Report(environment=corpus.ENVIRONMENT, frames=frames, graphs=graphs, breaks=(met,))
    (one,) = program_map(twice).functions
    assert [len(part.variants) for part in one.parts] == [1, 1, 1]


def test_times_of_a_step_are_charged_once():
    report = comparison_corpus.compared()
    of = program_map(report)
    charged = [v.cost.step for one in of.functions for part in one.parts for v in part.variants]
    charged += [b.step for one in of.functions for part in one.parts for b in part.breaks]
    charged += [seconds for _, seconds in of.elsewhere]
    parts = sum(part.seconds.median for part in report.step.parts)
    assert sum(filter(None, charged)) == pytest.approx(parts)


def test_a_large_program_stays_short():
    of = program_map(large())
    assert len(of.functions) == 24
    assert len(of.functions) + len(of.others) == 61
    started = time.process_time()
    svg = MapRenderer().report(large())
    assert time.process_time() - started < 5  # 0.15 on a quiet machine
    root = parsed(svg)
    assert int(root.get("width")) <= 1040
    assert int(root.get("height")) < 6000
    assert "and 85 more parts, lines 24 to 108" in svg
    assert "and 23 more" in svg
    assert len(MapTextRenderer(width=100).report(large()).splitlines()) < 200


def overlap(one: Rect, other: Rect) -> bool:
    return (one.x < other.x + other.width and other.x < one.x + one.width
            and one.y < other.y + other.height and other.y < one.y + one.height)  # fmt: skip


def inside(inner: Rect, outer: Rect) -> bool:
    return (outer.x <= inner.x and outer.y <= inner.y
            and inner.x + inner.width <= outer.x + outer.width
            and inner.y + inner.height <= outer.y + outer.height)  # fmt: skip


def text_rect(text) -> Rect:
    size, bold = SIZES.get(text.kind, (11, False))
    width = text_width(text.text, size, bold)
    x = text.x - width if text.kind.endswith(" p") else text.x
    return Rect(x=x, y=text.y - size + 2, width=width, height=size)


def check(report: Report) -> None:
    """Everything the layout promises."""
    placed = layout_map(panels(program_map(report), ""))
    assert placed.width <= PAGE
    whole = Rect(0, 0, placed.width, placed.height)
    assert not any(overlap(a.rect, b.rect) for a, b in combinations(placed.panels, 2))
    for panel in placed.panels:
        assert inside(panel.rect, whole)
        rects = [one.rect for one in panel.boxes]
        assert not any(overlap(a, b) for a, b in combinations(rects, 2))
        assert not any(overlap(a, b) for a, b in combinations(panel.frames, 2))
        assert all(inside(rect, panel.rect) for rect in (*rects, *panel.frames))
        assert all(inside(text_rect(text), panel.rect) for text in panel.texts)
        assert not any(overlap(text_rect(text), rect) for text in panel.texts for rect in rects)
        for one in panel.boxes:
            own = [text_rect(text) for text in one.texts]
            assert all(inside(rect, one.rect) for rect in own)
            assert not any(overlap(a, b) for a, b in combinations(own, 2))
        for points in (*panel.arrows, *panel.links):
            for (x0, y0), (x1, y1) in pairwise(points):
                way = Rect(min(x0, x1), min(y0, y1), max(abs(x1 - x0), 1), max(abs(y1 - y0), 1))
                inner = [Rect(r.x + 1, r.y + 1, r.width - 2, r.height - 2) for r in rects]
                assert not any(overlap(way, rect) for rect in inner)


WORDS = st.one_of(st.sampled_from(["forward", "f", "x = f(x)", "模型的前向传播" * 20, "W" * 300]),
                  st.text(max_size=60))  # fmt: skip
OUTCOMES = st.sampled_from(
    ["compiled", "skipped", "failed", "recompile_limit", "no_graph", "unfinished"]
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Any program: functions and rests of them, with any outcomes, breaks and backward passes."""
    frames, graphs, breaks, recompiles = [], [], [], []
    names = draw(st.lists(WORDS, min_size=1, max_size=4))
    for number in range(draw(st.integers(0, 30))):
        name, line = draw(st.sampled_from(names)), draw(st.integers(0, 30))
        function = f"torch_dynamo_resume_in_{name}_at_{line}" if draw(st.booleans()) else name
        one = frame(
            number, function, line, draw(OUTCOMES), draw(st.sampled_from([0, 1, 1, 2, 3, 9]))
        )
        frames.append(one)
        for k, compilation in enumerate(one.compilations):
            compile_id = compilation.compile_id
            if draw(st.booleans()):
                graphs.append(graph(compile_id))
                if draw(st.booleans()):
                    graphs.append(graph(compile_id, "backward", saved=draw(st.integers(0, 2000))))
            if draw(st.booleans()):
                breaks.append(found(draw(st.integers(0, 40)), compile_id, function=name,
                                    code=draw(WORDS), kind=draw(WORDS), cause="other"))  # fmt: skip
            if k:
                cause = GuardFailure(
                    failed="", guard=draw(WORDS), subject=draw(WORDS), expected="1"
                )
                recompiles.append(Recompile(frame=str(number), function=function, file=FILE, line=line,
                                            compile_id=compile_id, causes=(cause,)))  # fmt: skip
    return Report(environment=corpus.ENVIRONMENT, frames=tuple(frames), graphs=tuple(graphs),
                  breaks=tuple(breaks), recompiles=tuple(recompiles))  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(reports())
def test_nothing_overlaps_and_all_texts_fit(report: Report):
    check(report)
    svg = MapRenderer().report(report)
    parsed(svg)
    assert svg == MapRenderer().report(report)
    text = MapTextRenderer(width=100).report(report)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", REPORTS)
def test_layout_of_the_corpus(name: str):
    check(REPORTS[name]())


@pytest.mark.parametrize(
    "bad", ["</text><script>alert(1)</script>", "'\"&<>]]>", "a\nb\r\n\tc", "x" * 10_000, "模型 שלום \u202e",
            "\x00\x1b[31m\ud800"],
)  # fmt: skip
def test_hostile_texts_are_only_text(bad: str):
    where = SourceLocation(file=bad, line=3, function=bad, code=bad)
    report = Report(
        environment=corpus.ENVIRONMENT,
        frames=(Frame(id="0", function=bad, file=bad, line=1, outcome="skipped", reason=bad,
                      compilations=(Compilation(compile_id="0/0", outcome="skipped", reason=bad,
                                                called_from=where, dynamic=(bad,)),
                                    Compilation(compile_id=bad, outcome="compiled", dynamic=(bad,)))),),
        graphs=(Graph(id=bad, compile_id=bad, stage="dynamo", nodes=(), function=bad, source=where),
                Graph(id=bad, compile_id=bad, stage="backward", nodes=(), function=bad)),
        breaks=(GraphBreak(file=bad, line=2, kind=bad, code=bad, function=bad, gb_code=bad, cause=bad,
                           stack=(where,), compile_ids=("0/0", bad), advice=(bad,)),),
        recompiles=(Recompile(frame="0", function=bad, file=bad, line=1, compile_id=bad,
                              causes=(GuardFailure(failed=bad, guard=bad, subject=bad, actual=bad),)),),
    )  # fmt: skip
    check(report)
    root = parsed(MapRenderer().report(report))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "text", "g", "path",
    }  # fmt: skip
    text = MapTextRenderer(width=80).report(report)
    assert all(line.isprintable() and len(line) <= 80 for line in text.split("\n"))


def test_accessible_and_self_contained():
    svg = MapRenderer().report(training())
    root = parsed(svg)
    assert root.get("role") == "img"
    assert [child.tag.removeprefix(SVG) for child in root[:3]] == ["title", "desc", "style"]
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert "var(" not in svg
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", svg)
    words = {element.text for element in root.iter(f"{SVG}text")}
    assert {"compiled graph", "its backward", "graph break", "runs eager"} <= words
    assert "failed" not in words
    assert "its backward" not in MapRenderer(legend=False).report(training())


@pytest.mark.parametrize(("theme", "queries"), [("auto", 2), ("light", 0), ("dark", 0)])
def test_themes(theme: str, queries: int):
    svg = MapRenderer(theme=theme).report(training())
    assert svg.count("@media (prefers-color-scheme:dark)") == queries
    with pytest.raises(UsageError, match="give one of auto, light, dark"):
        MapRenderer(theme="pink")


def test_one_graph_is_a_program():
    assert "graph 0/0" in MapRenderer().graph(corpus.toy_graph())
    assert "graph 0/0: 5 operators" in MapTextRenderer().graph(corpus.toy_graph())


@given(st.text(max_size=200), st.integers(-5, 300), st.sampled_from([(11, False), (13, True)]))
def test_fitted_texts_fit(text: str, width: int, font: tuple[int, bool]):
    assert width_of(fitted(text, width, *font), *font) <= max(width, 0)
    assert all(width_of(line) <= max(width, 0) for line in wrapped_to(text, width))


@given(st.lists(st.integers(1, 90), min_size=1, max_size=12), st.integers(1, 4))
def test_columns_are_even(heights: list[int], columns: int):
    counts = split_evenly(heights, columns)
    assert sum(counts) == len(heights)
    assert len(counts) <= columns


def twice_broken(x):
    y = x * 2
    print("first")
    y = y + 1
    print("second")
    return loops(y) - 1


def loops(y):
    for _ in range(2):
        y = y * 3
        print("turn")
    return y


@pytest.mark.usefixtures("compiles")
def test_a_real_function_with_two_breaks_and_a_skipped_frame():
    import torch

    import graphlens

    of = program_map(graphlens.explain(twice_broken)(torch.ones(3)))
    one, other = of.functions
    first = twice_broken.__code__.co_firstlineno
    assert (one.name, one.line, other.name, other.outcome) == (
        "twice_broken", first, "loops", "skipped")  # fmt: skip
    assert [part.line for part in one.parts] == [0, first + 2, first + 4, first + 5]
    own = [b.line for part in one.parts for b in part.breaks if b.own]
    assert own == [first + 2, first + 4]
    ((last,),) = (part.breaks for part in one.parts[2:3])
    assert (last.line, last.own) == (first + 5, False)
    svg = MapRenderer().report(graphlens.explain(twice_broken)(torch.ones(3)))
    assert f"runs eager: break in line {loops.__code__.co_firstlineno + 3}" in svg


@pytest.mark.usefixtures("compiles")
def test_a_real_recompile_in_training():
    import torch

    import graphlens

    layer = torch.nn.Linear(4, 4)

    def scaled(x, factor):
        return layer(x).relu() * factor

    with graphlens.record() as lens:
        compiled = torch.compile(scaled, backend="aot_eager")
        for factor in (2, 3):
            compiled(torch.ones(2, 4), factor).sum().backward()
    (one,) = program_map(lens.report()).functions
    ((part),) = one.parts
    assert [v.compile_id for v in part.variants] == ["0/0", "0/1"]
    assert part.variants[1].recompile.causes
    assert all(v.backward and v.saved and v.saved.values for v in part.variants)
    text = MapTextRenderer().report(lens.report())
    assert "argument factor changed: 2 → 3" in text
    assert "backward: " in text


def test_graphs_lead_to_where_they_are_told():
    report = corpus.typical()
    graph = next(one for one in report.graphs if one.stage == "dynamo")
    svg = MapRenderer(links={graph.id: '#graph-1"><script>'}).report(report)
    links = [link for link in ET.fromstring(svg).iter() if link.tag.endswith("}a")]
    assert [link.get("href") for link in links] == ['#graph-1"><script>']
    assert "<a " not in MapRenderer().report(report)
