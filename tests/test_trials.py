"""Advice that is tried: captures beside the user's state, with a switch, a mark or a rewrite."""

import linecache
from collections.abc import Callable
from typing import Any

import pytest

import graphlens
from graphlens.analysis.report_parts import breaks_of
from graphlens.analysis.rewrites.together import merged
from graphlens.analysis.trial_results import break_trial, in_words, recompile_trial
from graphlens.model import (
    Counts,
    Environment,
    Frame,
    GraphBreak,
    Recompile,
    Report,
    Trial,
    Unavailable,
)

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [
    pytest.mark.usefixtures("compiles"),
    # Torch looks for .grad of what goes into a graph, and hides the warning from its users.
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]

import trial_programs
from graphlens.capture import trials
from graphlens.capture.explain import explain_calls
from graphlens.capture.fix_changes import change_for
from graphlens.capture.options import lens_options
from graphlens.model import Fix
from trial_programs import (
    Lazy,
    Meter,
    Outer,
    Talking,
    chatty,
    guarded,
    metered,
    neighbours,
    of_two_files,
    rows,
    scaled,
    stepped,
    twice,
)


def explained(fn: Callable[..., Any], *calls: tuple[Any, ...], **keywords: Any) -> Report:
    options = lens_options({"show": "none", "inner": "eager"})
    return explain_calls(fn, [(call, {}) for call in calls], options, keywords, try_advice=True)


def helping(report: Report) -> list[tuple[str, Trial]]:
    assert isinstance(report.breaks, tuple)
    return [
        (fix.kind, fix.trial)
        for found in report.breaks
        for fix in found.fixes
        if isinstance(fix.trial, Trial)
    ]


def test_a_switch_and_a_rewrite_of_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    code = chatty.__code__
    reorderable = set(torch._dynamo.config.reorderable_logging_functions)
    report = graphlens.explain(chatty, try_advice=True)(torch.ones(2))
    wanted = Trial(
        before=Counts(breaks=1, graphs=0, recompiles=0, eager_frames=1),
        after=Counts(breaks=0, graphs=1, recompiles=0, eager_frames=0),
        helps=True,
    )
    assert sorted(helping(report), key=lambda one: one[0]) == [
        ("rewrite", wanted),
        ("switch", wanted),
    ]
    assert report.together == wanted
    assert chatty.__code__ is code
    assert torch._dynamo.config.reorderable_logging_functions == reorderable
    assert capsys.readouterr().out == "turn\n" * 3  # of the one call that was asked for


def test_a_rewrite_deep_in_a_model_leaves_the_model_alone() -> None:
    model = Outer()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    classes = [type(module) for module in model.modules()]
    forward = Talking.forward
    report = graphlens.explain(model, try_advice=True)(torch.ones(2, 3))
    assert "rewrite" in {kind for kind, _ in helping(report)}
    assert isinstance(report.together, Trial)
    assert (report.together.before.breaks, report.together.after.breaks) == (1, 0)
    assert report.together.after.graphs == 1
    assert [type(module) for module in model.modules()] == classes
    assert Talking.forward is forward
    assert model.calls == 0
    assert "_is_torch_compile" not in vars(model)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


def test_advice_that_does_not_help_is_not_given() -> None:
    """The number is needed for a branch inside ``try``: with it captured, the branch breaks."""
    plain = graphlens.explain(guarded)(torch.ones(2))
    assert isinstance(plain.breaks, tuple)
    switch = [fix for found in plain.breaks for fix in found.fixes if fix.kind == "switch"]
    assert [fix.code for fix in switch] == ["torch._dynamo.config.capture_scalar_outputs = True"]
    tried = graphlens.explain(guarded, try_advice=True)(torch.ones(2))
    assert isinstance(tried.breaks, tuple)
    assert not [fix for found in tried.breaks for fix in found.fixes if fix.kind == "switch"]


def test_a_recompile_goes_with_its_break() -> None:
    report = explained(scaled, (torch.ones(3),), (torch.full((3,), 5.0),))
    for _, trial in helping(report):
        assert (trial.before.recompiles, trial.after.recompiles) == (1, 0)
        assert in_words(trial) == "1 break → 0, 3 graphs → 1, 1 recompile → 0"
    assert helping(report)


def test_dimensions_are_marked_on_copies() -> None:
    def pool(x: Any) -> Any:
        return x.sum(1)

    calls = [torch.ones(2, size) for size in (3, 4, 5)]
    report = explained(pool, *((x,) for x in calls), dynamic=False)
    assert isinstance(report.recompiles, tuple)
    fixes = {fix.code: fix.trial for one in report.recompiles for fix in one.fixes}
    assert set(fixes) == {
        "torch._dynamo.mark_dynamic(x, 1)",
        "torch.compile(..., dynamic=True)",
    }
    for trial in fixes.values():
        assert isinstance(trial, Trial)
        assert (trial.before.recompiles, trial.after.recompiles) == (2, 0)
    assert not any(hasattr(x, "_dynamo_dynamic_indices") for x in calls)


def test_a_counter_on_a_module() -> None:
    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 0
            self.history: list[int] = []

        def forward(self, x: Any) -> Any:
            self.step += 1
            self.history.append(self.step)
            return x * self.step

    model = Counting()
    report = explained(model, *[(torch.ones(2),)] * 4)
    assert isinstance(report.recompiles, tuple)
    assert (model.step, model.history) == (0, [])
    trials = [fix.trial for one in report.recompiles for fix in one.fixes]
    assert all(isinstance(trial, (Trial, Unavailable)) for trial in trials)


def test_captures_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MOST_TRIALS", 0)
    report = graphlens.explain(chatty, try_advice=True)(torch.ones(2))
    assert isinstance(report.breaks, tuple)
    reasons = [fix.trial for found in report.breaks for fix in found.fixes]
    assert reasons
    assert all(isinstance(reason, Unavailable) for reason in reasons)
    assert "captures were made already" in str(reasons[0])


def test_what_cannot_be_tried_says_why() -> None:
    fix = Fix(kind="annotation", title="", code="torch._dynamo.mark_dynamic(other, 0)")
    assert "other is no argument" in str(change_for(fix, __file__, scaled))
    fix = Fix(
        kind="switch", title="", code="torch._dynamo.config.ignore_logging_functions.add(a.b)"
    )
    assert "`a.b`" in str(change_for(fix, __file__, scaled))
    assert "by itself" in str(change_for(Fix(kind="switch", title=""), __file__, scaled))


def report_of(*breaks: GraphBreak, eager: int = 0, recompiles: int = 0) -> Report:
    return Report(
        environment=Environment(graphlens="1", torch="2", python="3"),
        breaks=breaks,
        frames=tuple(
            Frame(id=str(n), function="f", file="f.py", line=1, outcome="skipped")
            for n in range(eager)
        ),
        recompiles=tuple(
            Recompile(frame="0", function="f", file="f.py", line=1, compile_id=f"0/{n}")
            for n in range(recompiles)
        ),
    )


def at(line: int, code: str) -> GraphBreak:
    return GraphBreak(file="f.py", line=line, code=code, kind="Odd")


def test_a_fix_helps_when_its_break_is_gone_and_none_came_in_its_place() -> None:
    one, two, three = at(1, "a()"), at(2, "b()"), at(3, "c()")
    assert break_trial(one, report_of(one, two), report_of(two)).helps
    moved = report_of(at(5, "a()"), two)
    assert not break_trial(one, report_of(one, two), moved).helps
    assert not break_trial(one, report_of(one, two), report_of(two, three)).helps
    # What was behind a function that ran eager comes to light: that is better all the same.
    assert break_trial(one, report_of(one, eager=1), report_of(two, three)).helps
    assert recompile_trial(report_of(recompiles=3), report_of(recompiles=1)).helps
    assert not recompile_trial(report_of(recompiles=3), report_of(one, recompiles=1)).helps


def test_rewrites_of_one_file_are_merged() -> None:
    source = "a\nb\nc\nd\n"
    first, second, same_line = "a\nB\nc\nd\n", "a\nb\nc\nD\nE\n", "a\nX\nc\nd\n"
    assert merged(source, [first, second, same_line]) == "a\nB\nc\nD\nE\n"
    assert merged(source, []) == source


def test_what_a_program_keeps_elsewhere_is_as_before() -> None:
    meter, history, step = Meter(), {"steps": [7]}, trial_programs.STEP
    report = graphlens.explain(metered, try_advice=True)(torch.ones(2), meter, history)
    assert isinstance(report.together, Trial)
    assert (meter.total, meter.seen, meter.last) == (0, [], None)
    assert history == {"steps": [7]}
    assert step == trial_programs.STEP


def test_nothing_is_tried_where_parameters_change(capsys: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    report = graphlens.explain(stepped, try_advice=True)(model, optimizer, torch.ones(1, 2))
    assert isinstance(report.together, Unavailable)
    assert "parameters" in report.together.reason
    assert capsys.readouterr().out == "loss\n"
    assert helping(report) == []


def test_nothing_is_tried_where_a_second_call_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "is_same", lambda one, other: False)
    report = graphlens.explain(chatty, try_advice=True)(torch.ones(2))
    assert isinstance(report.together, Unavailable)
    assert "something else when called again" in report.together.reason


def test_an_object_that_remembers_is_tried_as_it_was() -> None:
    """With the number captured the branch on it breaks, so that the switch must not help."""
    lazy = Lazy()
    report = graphlens.explain(lazy, try_advice=True)(torch.ones(2))
    assert lazy.scale is None
    assert isinstance(report.breaks, tuple)
    assert "switch" not in [kind for kind, _ in helping(report)]


def test_rewrites_of_neighbouring_lines_are_tried_together() -> None:
    report = graphlens.explain(neighbours, try_advice=True)(torch.ones(2))
    assert isinstance(report.together, Trial)
    assert (report.together.before.breaks, report.together.after.breaks) == (3, 0)


def test_rewrites_of_two_files_are_tried_together() -> None:
    report = graphlens.explain(of_two_files, try_advice=True)(torch.ones(3))
    assert isinstance(report.together, Trial)
    assert (report.together.before.breaks, report.together.after.breaks) == (2, 0)


def test_a_loop_over_rows_is_rewritten() -> None:
    report = explained(rows, *[(torch.ones(n, 2),) for n in (2, 3, 4)])
    assert isinstance(report.recompiles, tuple)
    found = [fix for one in report.recompiles for fix in one.fixes if fix.kind == "rewrite"]
    assert found
    assert all(isinstance(fix.trial, Trial) and fix.trial.helps for fix in found)


def test_what_is_captured_of_a_rewritten_copy_is_quoted_from_the_rewritten_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rewrite adds a line, so that all below it stand elsewhere than in the file."""
    captured: list[Report] = []
    run = trials.Trials._run

    def kept(self: Any, plan: Any) -> Any:
        after = run(self, plan)
        captured.extend([after] if plan.texts and isinstance(after, Report) else [])
        return after

    monkeypatch.setattr(trials.Trials, "_run", kept)
    before = linecache.getlines(trial_programs.__file__)
    report = explained(twice, (torch.ones(2),))
    assert linecache.getlines(trial_programs.__file__) == before
    assert captured
    codes = [found.code for after in captured for found in breaks_of(after)]
    assert set(codes) == {'print("again")', "y = x.sum().item()"}
    for found in [found for after in captured for found in breaks_of(after)]:
        assert not isinstance(found.excerpt, Unavailable)
        line = found.excerpt.lines[found.line - found.excerpt.first]
        assert line.strip() == found.code
    # Of two lines with the same text each is helped by its own rewrite.
    kinds = {found.line: [fix.kind for fix in found.fixes] for found in breaks_of(report)}
    assert list(kinds.values()) == [["rewrite", "switch"]] * 3
