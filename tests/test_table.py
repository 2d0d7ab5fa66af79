"""Tables of graphs."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import report_corpus as corpus
from golden_files import check_golden
from graphlens.errors import UsageError
from graphlens.model import Graph, TensorSpec
from graphlens.renderers.columns import is_contiguous
from graphlens.renderers.table import FORMATS, TableRenderer

ROOT = "/home/user/project"


@pytest.mark.parametrize("width", [60, 80, 120, None])
def test_plain(width):
    text = TableRenderer(width=width, rows=12, root=ROOT).report(corpus.typical())
    check_golden(f"tables_{width or 'full'}.txt", text)


@pytest.mark.parametrize(("format", "suffix"), [("github", "md"), ("html", "html"), ("tsv", "tsv")])
def test_formats(format, suffix):
    text = TableRenderer(format=format, rows=6, root=ROOT).report(corpus.typical())
    check_golden(f"tables.{suffix}", text)


@pytest.mark.parametrize("name", corpus.CORPUS)
@pytest.mark.parametrize("width", [1, 7, 20, 33, 79, 100, 200])
def test_plain_never_wider_than_asked(name, width):
    text = TableRenderer(width=width).report(corpus.CORPUS[name]())
    if name != "empty":
        assert max(map(len, text.split("\n"))) <= width


@settings(max_examples=60, deadline=None)
@given(width=st.integers(1, 160), rows=st.integers(1, 60), blocks=st.integers(0, 12))
def test_any_width_fits_and_every_left_out_column_is_named(width, rows, blocks):
    graph = corpus.resnet_graph(blocks)
    text = TableRenderer(width=width, rows=rows).graph(graph)
    assert max(map(len, text.split("\n"))) <= width
    if width >= 60 and blocks:
        head = " ".join(text.split()).partition(" # ")[0]
        header = next(line for line in text.split("\n") if line.lstrip().startswith("# "))
        for column in ("dtype", "device", "module", "arguments"):
            assert column in header or column in head
        assert "stride" in header or "contiguous" in head or "stride" in head


@pytest.mark.parametrize("rows", [1, 2, 5, 12, 47])
def test_long_graphs_are_shortened_in_the_middle(rows):
    lines = TableRenderer(rows=rows).graph(corpus.resnet_graph(16)).split("\n")
    numbers = [int(match[1]) for line in lines if (match := re.match(r" *(\d+)  ", line))]
    left_out = [line for line in lines if line.startswith("... ")]
    if rows == 47:  # one row less is no gain
        assert left_out == []
        assert numbers == list(range(1, 49))
        return
    assert left_out == [f'... {48 - rows} more rows: options={{"graphlens.rows": None}}']
    assert len(numbers) == rows
    assert numbers[0] == 1
    if rows > 1:
        assert numbers[-1] == 48


def test_rows_none_shows_every_operator():
    text = TableRenderer(rows=None, width=80).report(corpus.large())
    assert "more rows" not in text
    assert "\n6000  " in text


def test_parameters_are_counted_and_named_by_module_not_listed():
    text = TableRenderer().graph(corpus.resnet_graph(2))
    assert "2 parameters" in text
    assert "layer1.0.conv1.weight" in text
    assert "l_self_modules" not in text


def test_title_says_what_is_known_and_why_the_rest_is_not():
    title = TableRenderer(root=ROOT).graph(corpus.toy_graph()).split("\n")[0]
    assert title == (
        "0/0 dynamo: toy (demo.py:4) · 5 operators · 2 inputs (1 symbolic size) · 0 parameters · "
        "compiled by inductor in 1.24 s · ran 3 times · ended by: Data-dependent branching"
    )
    title = TableRenderer(root=ROOT).graph(corpus.lowered_graph()).split("\n")[0]
    assert "backend unavailable (the trace does not name the backend)" in title
    assert "compile time unavailable (not recorded)" in title
    assert title.endswith("cached · no CUDA graph: control flow (cond) · read from the trace")
    assert "ran " not in title


def test_several_tensors_of_one_node():
    text = TableRenderer().graph(corpus.lowered_graph())
    assert "[4, 16], [4, 1], [4, 1]" in text
    assert "bfloat16, float32, float32" in text


def test_subgraphs_have_their_own_tables():
    text = TableRenderer().graph(corpus.lowered_graph())
    assert "subgraph true_graph_0 of 2/0 forward · 1 operator\n" in text
    assert "aten.sin" in text


def test_tsv_has_every_node_in_plain_cells():
    for build in (corpus.hostile, corpus.typical, corpus.large):
        report = build()
        lines = TableRenderer(format="tsv", rows=1).report(report).rstrip("\n").split("\n")
        bodies = [g.nodes for g in report.graphs] + [
            body.nodes for graph in report.graphs for body in graph.subgraphs
        ]
        assert len(lines) == 1 + sum(map(len, bodies))
        assert {line.count("\t") for line in lines} == {12}
        assert not set("\r\x00\x1b").intersection("".join(lines))


@pytest.mark.parametrize("format", FORMATS)
def test_hostile_names_stay_text(format):
    text = TableRenderer(format=format).report(corpus.hostile())
    assert "\x1b" not in text
    assert "\x00" not in text
    if format == "html":
        assert "<img" not in text
        assert "<script" not in text
        assert set(re.findall(r"<(\w+)", text)) <= {
            "p", "b", "br", "table", "thead", "tbody", "tr", "th", "td",
        }  # fmt: skip
    if format == "github":
        tables = re.findall(r"^\|.*?\n(?!\|)", re.sub(r"\\\|", "", text), re.MULTILINE | re.DOTALL)
        assert len(tables) == 2
        for cells in tables:
            assert len({line.count("|") for line in cells.rstrip("\n").split("\n")}) == 1


def test_same_report_same_bytes():
    for name in FORMATS:
        renderer = TableRenderer(format=name, width=90)
        assert renderer.report(corpus.typical()) == renderer.report(corpus.typical())


def test_a_graph_without_nodes():
    graph = Graph(id="0/0 dynamo", compile_id="0/0", stage="dynamo", nodes=())
    for name in FORMATS:
        assert TableRenderer(format=name, width=40).graph(graph)


def test_no_graphs():
    assert TableRenderer().report(corpus.empty()) == "No graphs were captured.\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"format": "grid"}, "plain, github, html, tsv"),
        ({"rows": 0}, "rows=0"),
        ({"width": "80"}, "width='80'"),
    ],
)
def test_wrong_options_are_named(options, text):
    with pytest.raises(UsageError, match=text):
        TableRenderer(**options)


@pytest.mark.parametrize(
    ("shape", "stride", "expected"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((1, 3), (99, 1), True),
        ((), (), True),
        (("s0", 8), (8, 1), True),
        ((4, "s0", 8), ("8*s0", 8, 1), True),
        ((4, 8, "s0"), ("8*s0", "s0", 1), True),
        ((4, "s0"), ("s1", 1), False),
        ((4,), None, False),
    ],
)
def test_contiguous(shape, stride, expected):
    assert is_contiguous(TensorSpec(shape=shape, dtype="float32", stride=stride)) is expected
