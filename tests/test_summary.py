"""The terminal text of a report."""

import msgspec
import pytest

import report_corpus as corpus
from golden_files import check_golden
from graphlens.model import Graph, GraphBreak, GuardFailure, Report
from graphlens.renderers.findings import findings, headline
from graphlens.renderers.summary import SummaryRenderer
from graphlens.renderers.textfile import TextRenderer
from graphlens.renderers.wording import first_sentence, seconds, shown_place

ROOT = "/home/user/project"


@pytest.mark.parametrize("name", ["empty", "unknown", "typical", "hostile"])
@pytest.mark.parametrize("width", [80, 120])
def test_summary(name, width):
    text = SummaryRenderer(width=width, root=ROOT).report(corpus.CORPUS[name]())
    check_golden(f"summary_{name}_{width}.txt", text)


def test_text_file():
    check_golden("report.txt", TextRenderer(rows=6, root=ROOT).report(corpus.typical()))


def test_what_is_unknown_is_never_counted_as_none():
    text = SummaryRenderer().report(corpus.unknown())
    assert "0 graph breaks" not in text
    assert "0 recompiles" not in text
    assert "0 frames" not in text
    assert "graph breaks unknown: torch's trace could not be read; run graphlens doctor" in text


def test_headline_counts():
    assert headline(corpus.typical()) == (
        "3 graphs, 2 graph breaks at 2 lines, 3 frames ran eager, 1 frame failed, 2 recompiles"
    )


def test_lowered_and_discarded_graphs_are_not_counted_as_graphs():
    graph = corpus.toy_graph()
    lowered = msgspec.structs.replace(graph, id="0/0 forward", stage="forward")
    discarded = msgspec.structs.replace(graph, id="0/0 dynamo 1", discarded=True)
    report = Report(environment=corpus.ENVIRONMENT, graphs=(discarded, graph, lowered))
    assert headline(report).startswith("1 graph (1 lowered from them, 1 discarded), ")


def test_a_skipped_function_with_its_break_is_one_finding():
    places = [item.place for item in findings(corpus.typical(), ROOT)]
    assert "demo.py:14" in places
    assert "demo.py:12" not in places  # the frame of that break


def test_torchs_message_on_a_frame_is_taken_apart():
    found = next(item for item in findings(corpus.typical()) if "recompile limit" in item.title)
    assert found.why[0].startswith("Dynamo attempted to recompile the code object")
    assert found.advice == ("To monitor recompilations, enable TORCH_LOGS=recompiles.",)
    assert "Developer" not in " ".join(found.why)


def test_a_guard_without_the_new_value():
    cause = GuardFailure(failed="0/0", guard="k == 1.5", source="k", expected="1.5")
    recompile = msgspec.structs.replace(corpus.typical().recompiles[0], causes=(cause,))
    (found,) = findings(Report(environment=corpus.ENVIRONMENT, recompiles=(recompile,)))
    assert found.facts[0] == ("0/1", "k is no longer 1.5 (guard of 0/0)")


def test_a_virtual_environment_in_the_project_is_not_the_projects_source():
    path = "/home/user/project/.venv/lib/python3.11/site-packages/torchvision/models/resnet.py"
    assert shown_place(path, 92, ROOT) == "torchvision/models/resnet.py:92"
    assert shown_place(corpus.DEMO, 4, ROOT) == "demo.py:4"


def test_many_facts_of_a_finding_are_counted():
    one = corpus.typical().recompiles[0]
    many = tuple(msgspec.structs.replace(one, compile_id=f"0/{n}") for n in range(1, 31))
    text = SummaryRenderer().report(Report(environment=corpus.ENVIRONMENT, recompiles=many))
    assert "was compiled again 30 times" in text
    assert "= more: 20 like these" in text


def test_failures_and_eager_frames_come_first():
    kinds = [item.kind for item in findings(corpus.typical())]
    last_eager = max(index for index, kind in enumerate(kinds) if kind in ("eager", "failed"))
    assert last_eager < kinds.index("break") < kinds.index("recompile")


def test_recompiles_of_a_frame_are_one_finding():
    first = corpus.typical().recompiles[0]
    again = msgspec.structs.replace(first, compile_id="0/2")
    report = Report(environment=corpus.ENVIRONMENT, recompiles=(first, again))
    (found,) = findings(report)
    assert found.title == "toy was compiled again 2 times"
    assert [name for name, _ in found.facts] == ["0/1", "0/2"]


def test_a_refused_recompile_does_not_claim_a_compilation():
    found = findings(corpus.typical())[-1]
    assert found.title == "step was not compiled again: it has reached the limit"


def test_lines_fit_but_places_are_whole():
    text = SummaryRenderer(width=50, root=ROOT).report(corpus.typical())
    assert all(len(line) <= 50 for line in text.split("\n") if "-->" not in line)
    assert "torchvision" not in text or "…" in text


def test_colour_only_where_asked():
    assert "\x1b" not in SummaryRenderer().report(corpus.typical())
    assert "\x1b[1;31mruns eager" in SummaryRenderer(colour=True).report(corpus.typical())
    assert "\x1b[31m\x00" not in SummaryRenderer(colour=True).report(corpus.hostile())


def test_many_findings_are_counted():
    breaks = tuple(GraphBreak(file="f.py", line=n, kind="Odd") for n in range(1, 31))
    report = Report(environment=corpus.ENVIRONMENT, breaks=breaks)
    text = SummaryRenderer().report(report)
    assert text.count("-->") == 20
    assert '... 10 more graph breaks: report.save("report.html")' in text
    assert SummaryRenderer(findings=None).report(report).count("-->") == 30


def test_many_graphs_are_counted():
    graphs = tuple(
        Graph(id=f"{n}/0 dynamo", compile_id=f"{n}/0", stage="dynamo", nodes=()) for n in range(70)
    )
    text = SummaryRenderer().report(Report(environment=corpus.ENVIRONMENT, graphs=graphs))
    assert "70 graphs, " in text
    assert "... 10 more graphs: " in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 ms"), (0.00042, "0.42 ms"), (0.0131, "13.1 ms"), (0.9999, "1 s"), (61.4, "61.4 s"),
     (1234.5, "1,234 s")],
)  # fmt: skip
def test_seconds(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("Detected (e.g. `if x:`). More.", "Detected (e.g. `if x:`)."),
        ("torch.compile stops", "torch.compile stops"),
        ("", ""),
    ],
)
def test_first_sentence(text, sentence):
    assert first_sentence(text) == sentence
