"""The terminal text of a report."""

import msgspec
import pytest

import report_corpus as corpus
from golden_files import check_golden
from graphlens.model import (
    Compilation,
    EagerOperators,
    Frame,
    Graph,
    GraphBreak,
    GuardFailure,
    Report,
    SourceLocation,
    Unavailable,
)
from graphlens.renderers.findings import findings
from graphlens.renderers.headline import headline
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
    report = msgspec.structs.replace(corpus.typical(), recompiles=())
    found = next(item for item in findings(report) if "recompile limit" in item.title)
    assert found.why[0].startswith("Dynamo attempted to recompile the code object")
    assert found.advice == ("To monitor recompilations, enable TORCH_LOGS=recompiles.",)
    assert "Developer" not in " ".join(found.why)


def test_a_guard_without_the_new_value():
    cause = GuardFailure(failed="0/0", guard="k == 1.5", source="k", expected="1.5")
    recompile = msgspec.structs.replace(
        corpus.typical().recompiles[0], causes=(cause,), differences=(), called_from=None
    )
    (found,) = findings(Report(environment=corpus.ENVIRONMENT, recompiles=(recompile,)))
    assert found.facts[0] == ("0/1", "k is no longer 1.5 (against 0/0)")


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
    found = next(item for item in findings(corpus.typical()) if item.function == "step")
    assert found.title == "calls of step that fit none of its 1 compilation"
    assert found.why[0].startswith("The recompile limit is reached")


def test_lines_fit_but_places_are_whole():
    text = SummaryRenderer(width=50, root=ROOT).report(corpus.typical())
    assert all(len(line) <= 50 for line in text.split("\n") if "-->" not in line)
    assert "torchvision" not in text or "…" in text


def test_colour_only_where_asked():
    assert "\x1b" not in SummaryRenderer().report(corpus.typical())
    assert "\x1b[1;31mruns eager" in SummaryRenderer(colour=True).report(corpus.typical())
    assert "\x1b[31m\x00" not in SummaryRenderer(colour=True).report(corpus.hostile())


def test_breaks_at_one_line_are_one_finding_with_all_that_torch_says():
    place = SourceLocation(file="/opt/venv/lib/python3.11/site-packages/scipy/helper.py", line=7)
    one = GraphBreak(file="f.py", line=3, code="dct(x)", kind="Odd", cause="untraceable_library",
                     because="`dct(x)` calls a library.", records=1, hits=2)  # fmt: skip
    inner = msgspec.structs.replace(
        one, kind="Even", points_to=place, consequence="frame_skipped", records=7,
        hits=Unavailable("the function runs eager"), compile_ids=("3/0",),
    )  # fmt: skip
    frame = Frame(id="3", function="helper", file=place.file, line=1, outcome="skipped",
                  compilations=(Compilation(compile_id="3/0", outcome="skipped"),))  # fmt: skip
    report = Report(environment=corpus.ENVIRONMENT, frames=(frame,), breaks=(inner, one))
    (found,) = findings(report)
    assert (found.kind, found.title) == ("break", "a library that Dynamo cannot trace")
    assert found.cost == "the program ran through it 2 times"
    assert found.facts == (
        ("causes", "2 in `dct(x)`: Odd; Even (scipy/helper.py:7)"),
        ("torch says", "Even at scipy/helper.py:7, 7 times; Odd (8 records)"),
    )


def test_what_costs_most_comes_first_and_what_is_intended_last():
    def at(line, **more):
        return GraphBreak(file="f.py", line=line, kind="Odd", function=f"f{line}", **more)

    breaks = (
        at(1, cause="disabled_function", hits=900),
        at(2, cause="print_call", hits=3),
        at(3, cause="print_call", hits=40),
        at(4, cause="print_call", consequence="frame_skipped", compile_ids=("4/0",)),
        at(5, cause="print_call", consequence="frame_skipped", compile_ids=("5/0",)),
    )
    eager = (
        EagerOperators(place=SourceLocation(file="f.py", line=9, function="f5"), count=70,
                       operators=("aten.add.Tensor",)),
        EagerOperators(place=SourceLocation(file="f.py", line=8, function="f4"), count=6,
                       operators=("aten.add.Tensor",)),
    )  # fmt: skip
    frames = tuple(
        Frame(id=str(n), function=f"f{n}", file="f.py", line=n, outcome="skipped",
              compilations=(Compilation(compile_id=f"{n}/0", outcome="skipped"),))
        for n in (4, 5)
    )  # fmt: skip
    report = Report(environment=corpus.ENVIRONMENT, frames=frames, breaks=breaks, eager=eager)
    assert [(item.line, item.kind) for item in findings(report)] == [
        (5, "eager"), (4, "eager"), (3, "break"), (2, "break"), (1, "intended")
    ]  # fmt: skip
    text = SummaryRenderer().report(report)
    start = text.index("Most worth fixing")
    assert text.index("1. f.py:5") > start
    assert "2. f.py:4" in text
    assert "3. f.py:3" in text
    assert "4. f.py" not in text


def test_the_line_has_a_caret_under_what_broke():
    text = SummaryRenderer(root=ROOT).report(corpus.typical())
    assert "    6 | if b.sum() < 0:\n      |    ^^^^^^^^^^^\n" in text
    assert "   13 | for row in x:\n   14 |     print(" in text


def test_what_was_tried_is_said():
    text = SummaryRenderer(root=ROOT).report(corpus.typical())
    assert "(tried: 2 breaks → 1, 3 graphs → 1, 1 recompile → 0)" in text
    assert "(tried, and the call failed: TypeError: unhashable)" in text


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
