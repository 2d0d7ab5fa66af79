"""How a comparison is shown: findings, text, tables, pages, and the chart of times."""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

import comparison_corpus as compared
import report_corpus as corpus
from golden_files import check_golden
from graphlens import presenter, registry
from graphlens.analysis.text_width import text_width
from graphlens.model import (
    Accuracy,
    Errors,
    Measured,
    Report,
    StepPart,
    Unavailable,
    from_json,
    to_json,
)
from graphlens.renderers import measures
from graphlens.renderers.accuracy_table import accuracy_table
from graphlens.renderers.bar_scale import Scale
from graphlens.renderers.comparison import facts, has_comparison
from graphlens.renderers.comparison_text import ComparisonText
from graphlens.renderers.findings import findings
from graphlens.renderers.html import HtmlRenderer
from graphlens.renderers.markdown import MarkdownRenderer
from graphlens.renderers.summary import SummaryRenderer
from graphlens.renderers.textfile import TextRenderer
from graphlens.renderers.timings_svg import TimingsRenderer
from test_html import Page

ROOT = "/home/user/project"
SHOWN = ["compared", "never", "partly", "hostile"]


def measured(median, low, high):
    return Measured(median=median, low=low, high=high, rounds=9)


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("width", [80, 120])
def test_summary(name, width):
    text = SummaryRenderer(width=width, root=ROOT).report(compared.CORPUS[name]())
    check_golden(f"comparison_{name}_{width}.txt", text)
    assert all(len(line) <= width for line in text.split("\n") if "-->" not in line)


def test_text_file():
    check_golden("comparison.txt", TextRenderer(rows=6, root=ROOT).report(compared.compared()))


@pytest.mark.parametrize("name", SHOWN)
def test_markdown(name):
    text = MarkdownRenderer(rows=6, root=ROOT).report(compared.CORPUS[name]())
    check_golden(f"comparison_{name}.md", text)


def test_hostile_names_make_no_markup():
    text = MarkdownRenderer().report(compared.hostile())
    without_blocks = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.M | re.S)
    without_code = re.sub(r"(`+).*?\1", "", without_blocks)
    assert set(re.findall(r"(?<!\\)<(\w+)", without_code)) <= {"details", "summary"}


@pytest.mark.parametrize("name", SHOWN)
def test_chart(name):
    text = TimingsRenderer(root=ROOT).report(compared.CORPUS[name]())
    ET.fromstring(text.encode("utf-8", errors="backslashreplace"))
    check_golden(f"timings_{name}.svg", text)


@pytest.mark.parametrize("name", SHOWN)
def test_page_is_well_formed_and_asks_for_nothing(name):
    report = compared.CORPUS[name]()
    for text in (HtmlRenderer().report(report), HtmlRenderer().graph(report.graphs[0])):
        parsed = Page(text)
        assert len(parsed.ids) == len(set(parsed.ids))
        sources = [value for _, attribute, value in parsed.attributes if attribute == "src"]
        assert all(value.startswith("data:image/svg+xml;base64,") for value in sources)


@pytest.mark.parametrize("name", SHOWN)
def test_headings_are_in_order(name):
    parsed = Page(HtmlRenderer().report(compared.CORPUS[name]()))
    levels = [int(tag[1]) for tag in parsed.tags if re.fullmatch(r"h\d", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_page_has_what_the_text_has():
    text = Page(HtmlRenderer(root=ROOT).report(compared.compared())).text
    for expected in (
        "1.23x faster (1.19 to 1.28) end to end",
        "after 1,240 calls (1,100 to 1,400); with warm caches after 90 calls (80 to 102)",
        "0.84x, slower (0.80 to 0.88)",
        "65.0 %",
        "break at demo.py:6, Python between graphs: if b.sum() < 0:",
        "The parts add up to 12.3 ms, 99.3 % of the measured 12.4 ms.",
        "the time budget was used up",
        "a bool has no reference",
        "0.9987100",
        "At fault is the fusion of this operator with others into one kernel",
        "torch._inductor.config.emulate_precision_casts = True",
    ):
        assert expected in text


@pytest.mark.parametrize("name", ["compared", "never", "partly"])
def test_json_round_trip(name):
    report = compared.CORPUS[name]()
    assert from_json(to_json(report)) == report


@pytest.mark.parametrize("name", ["empty", "unknown", "typical"])
def test_nothing_is_shown_where_nothing_was_compared(name):
    report = corpus.CORPUS[name]()
    assert not has_comparison(report)
    assert facts(report) == []
    assert ComparisonText(80).tables(report) == []
    assert "not timed" not in SummaryRenderer().report(report)
    assert "Comparison with eager" not in HtmlRenderer().report(report)
    assert all(accuracy_table(graph) == "" for graph in report.graphs)


def test_wrong_results_come_first_then_failures_then_cost():
    found = findings(compared.compared(), ROOT)
    assert [item.kind for item in found] == [
        "wrong", "failed", "eager", "break", "slower", "eager", "eager", "precision_changed",
        "recompile", "not_comparable",
    ]  # fmt: skip
    assert [found[0].place, found[2].cost, found[3].cost] == [
        "demo.py:5",
        "2.10 ms a step",
        "1.02 ms a step, the program ran through it 3 times",
    ]
    # Two runs a step would be 0.004 ms; it runs three times and loses 0.002 ms each.
    assert found[4].cost == "0.00600 ms a step"


def test_costly_findings_rank_by_what_a_step_spends_on_them():
    report = compared.compared()
    parts = [
        replace(part, seconds=compared.ms(9, 9, 9)) if part.what == "between" else part
        for part in report.step.parts
    ]
    found = findings(replace(report, step=replace(report.step, parts=tuple(parts))))
    costly = [item.kind for item in found if item.seconds]
    assert costly == ["break", "eager", "slower"]


def test_the_program_is_a_finding_only_where_no_graph_tells_it():
    report = compared.compared()
    alone = replace(report.accuracy, tensors=(), reason="only compiled raises: TypeError: no")
    found = findings(replace(report, graphs=(), timings=(), accuracy=alone))
    assert (found[0].kind, found[0].title, found[0].place) == (
        "wrong",
        "the program: only compiled raises: TypeError: no",
        "the whole program",
    )
    assert sum(item.kind == "wrong" for item in findings(report)) == 1


def test_a_line_of_a_library_gives_way_to_the_users():
    report = compared.compared()
    found = next(item for item in findings(report, ROOT) if item.kind == "precision_changed")
    assert found.place == "demo.py:33"
    assert found.code[0].text == "y = self.net(x)"
    assert found.remedies[0].tried == "tried: then it agrees"


def test_what_was_tried_in_vain_is_no_remedy():
    found = findings(compared.compared())[0]
    assert [remedy.code for remedy in found.remedies] == [
        "torch._inductor.config.max_fusion_size = 1"
    ]
    assert ("tried in vain", "`torch._inductor.config.cpp.vec_isa_ok = False` (it still diverges)"
            ) in found.facts  # fmt: skip


def test_when_compiling_pays_is_told_in_epochs():
    pays = replace(compared.payback(), epoch_steps=500)
    text = SummaryRenderer(width=200).report(replace(compared.compared(), payback=pays))
    # 3.53 s / 2.85 ms = 1,239 calls, and 0.256 s / 2.85 ms = 90 calls
    assert "2.48 epochs of 500" in text
    assert "0.18 epochs of 500" in text


def test_graphs_whose_precision_changed_at_one_line_are_one_finding():
    report = compared.compared()
    twin = replace(report.graphs[1], id="9/0 dynamo", compile_id="9/0")
    found = [
        item
        for item in findings(replace(report, graphs=(*report.graphs, twin)))
        if item.kind == "precision_changed"
    ]
    assert [item.title[:8] for item in found] == ["2 graphs"]


def test_missing_parts_say_why_once():
    text = "\n".join(ComparisonText(None).facts(compared.partly()))
    assert text.startswith("  results, speed, pays, timings: stopped before it was reached")
    assert text.count("stopped") == 1


def test_many_graphs_and_parts_are_counted():
    report = compared.many(80, 2)
    lines = "\n".join(ComparisonText(100).tables(report)[0])
    assert "... 19 more graphs: report.save" in lines
    part = StepPart(what="rest", seconds=compared.ms(0.1, 0.1, 0.1))
    step = replace(compared.step(), parts=(part,) * 40)
    text = "\n".join(ComparisonText(100).tables(replace(compared.compared(), step=step))[2])
    assert "... 25 more parts" in text


def test_a_ratio_keeps_its_interval_at_any_width():
    for width in (50, 60, 80, 100, None):
        blocks = ComparisonText(width, ROOT).tables(compared.compared())
        text = "\n".join(line for block in blocks for line in block)
        assert "1.23x faster (1.19" in text
        if width:
            assert max(map(len, text.split("\n"))) <= width


def test_accuracy_table_fits_and_says_what_is_left_out():
    graph = compared.compared().graphs[0]
    text = accuracy_table(graph, 70, root=ROOT)
    assert max(map(len, text.split("\n"))) <= 70
    assert "left out for the width: unequal" in text
    assert "... 2 more tensors" in accuracy_table(graph, most=1)


def test_saved_into_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compared.compared().save("out")
    assert "Whole program" in Path("out/timings.svg").read_text()
    assert "max abs" in Path("out/graphs/0_0_dynamo.txt").read_text()
    assert "Whole program" not in Path("out/report.svg").read_text()
    compared.partly().save("without")
    assert not Path("without/timings.svg").exists()
    table = presenter.accuracy_table(compared.compared().graphs[0], width=80)
    assert table.startswith("0/0 dynamo: toy (/home/user/project/demo.py:4): diverges\n")


def test_the_chart_is_a_renderer_by_name():
    assert "timings" in registry.renderer_names()
    assert registry.renderer("timings", theme="dark").theme == "dark"
    assert registry.renderer(".svg") == registry.renderer("svg")


@pytest.mark.parametrize(("graphs", "candidates"), [(1, 2), (60, 2), (60, 5)])
def test_nothing_in_the_chart_collides(graphs, candidates):
    root = ET.fromstring(TimingsRenderer().report(compared.many(graphs, candidates)))
    width = int(root.get("width"))
    space = "{http://www.w3.org/2000/svg}"
    texts = [(int(t.get("x")), int(t.get("y")), t.get("class") or "", t.text)
             for t in root.iter(f"{space}text")]  # fmt: skip
    # On a line the next text begins where the one before has ended.
    lines = {}
    for x, y, kind, text in texts:
        if kind not in ("t", "h") and "i" not in kind.split():
            size, bold = (13, True) if kind == "l" else (11, kind == "n")
            wide = text_width(text, size, bold)
            start = x - wide if kind == "p" else x
            lines.setdefault(y, []).append((start, start + wide))
            assert start >= 0
            assert start + wide <= width
    for spans in lines.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.2, "1.20"), (0.0124, "0.0124"), (12, "12.0"), (1243, "1,240"), (0, "0"), (0.9996, "1.00"),
     (99.96, "100"), (-2.85, "-2.85")],
)  # fmt: skip
def test_significant(value, text):
    assert measures.significant(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.24e-5, "0.0124 ms"), (0.0124, "12.4 ms"), (0.9999, "1.00 s"), (75, "75.0 s"), (0, "0 ms"),
     (1234, "1,230 s"), (-0.0197e-3, "-0.0197 ms")],
)  # fmt: skip
def test_duration(seconds, text):
    assert measures.duration(seconds) == text


def test_intervals_are_as_exact_as_the_number():
    one = measured(1.24e-3, 1.2e-3, 1.31e-3)
    assert measures.duration_with_interval(one) == "1.24 ms (1.20 to 1.31)"
    assert measures.duration_with_interval(measured(0.0, -1e-9, 2e-5)) == "0 ms (0.0000 to 0.0200)"
    assert measures.duration_with_interval(measured(1.0, 0.99, 1.01)) == "1.00 s (0.99 to 1.01)"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((1.23, 1.19, 1.28), "1.23x faster (1.19 to 1.28)"),
     ((0.84, 0.8, 0.88), "0.84x, slower (0.80 to 0.88)"),
     ((1.01, 0.97, 1.05), "1.01x, unclear (0.97 to 1.05)"),
     ((12.34, 11, 13), "12.3x faster (11.0 to 13.0)"),
     ((0.0123, 0.01, 0.02), "0.0123x, slower (0.0100 to 0.0200)")],
)  # fmt: skip
def test_speedup(numbers, text):
    assert measures.speedup(measured(*numbers)) == text


def test_errors():
    texts = [measures.error(value) for value in (3.1e-5, 0.125, 0, 1.7976931348623157e308, 12345.6)]
    assert texts == ["3.1e-05", "0.125", "0", "infinite", "1.2e+04"]
    assert measures.error_with_holes(Errors(max_abs=0.5, max_rel=1, nan=2)) == "0.5 (2 NaN)"


def test_numbers_of_calls():
    assert measures.number_of_calls(measured(0.3, 0.2, 0.4)) == "1 call (1 to 1)"
    assert measures.number_of_calls(measured(1239, 1100, 1.79e308)) == "1,240 calls (1,100 or more)"


def test_sizes_of_memory():
    texts = [measures.size_of_memory(value) for value in (960, 2048, 4_404_019, 3 * 2**30)]
    assert texts == ["960 B", "2.00 KiB", "4.20 MiB", "3.00 GiB"]


@pytest.mark.parametrize("parts", [[1, 1, 1], [8.06, 2.1, 1.02, 0.79, 0.31, 0.0372], [0, 0]])
def test_shares_add_up(parts):
    whole = sum(parts) or 1
    shown = [float(text.split()[0]) for text in measures.shares(parts, whole)]
    assert math.isclose(sum(shown), 100 if sum(parts) else 0, abs_tol=1e-9)
    assert all(abs(a - b / whole * 100) <= 0.1 for a, b in zip(shown, parts, strict=True))


@pytest.mark.parametrize("longest", [3e-8, 1.31e-5, 0.0229, 0.99, 1.0, 7.3, 2500.0])
def test_scales_are_round_and_readable(longest):
    scale = Scale.of(longest, 430)
    assert 2 <= len(scale.ticks) <= 7
    assert scale.x(longest) == 430
    assert scale.ticks[0] == (0, "0")
    numbers = [float(text.split()[0].replace(",", "")) for _, text in scale.ticks]
    steps = {round(b - a, 12) for a, b in pairwise(numbers)}
    assert len(steps) == 1  # nothing was rounded away


def test_a_speedup_that_is_unknown_says_so():
    report = compared.compared()
    step = replace(report.step, speedup=Unavailable("eager raised"), eager=Unavailable("it raised"))
    text = next(fact.text for fact in facts(replace(report, step=step)) if fact.name == "speed")
    assert text.endswith("eager not timed: it raised; no speed-up: eager raised")


def test_graphs_alone_can_be_compared():
    accuracy = Accuracy(verdict="agrees")
    graphs = (replace(corpus.toy_graph(), accuracy=accuracy),) * 2
    report = Report(environment=corpus.ENVIRONMENT, graphs=graphs)
    assert [fact.text for fact in facts(report)] == ["graphs: 2 agree"]
