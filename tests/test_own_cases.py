"""Small programs of our own: what the report says of each is what torch's own log says.

``own_cases`` holds them in the form of the case programs. ``EXPECT`` was measured with torch
itself by ``tools/measure_own_case.py``, so these tests need nothing beside the checkout.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from casework import facts, launch, results
from graphlens.model import (
    Compilation,
    Environment,
    Frame,
    GraphBreak,
    GuardFailure,
    Recompile,
    Report,
    SourceLocation,
)

CASES = sorted(Path(__file__).with_name("own_cases").glob("*.py"))


@pytest.fixture(scope="module")
def launcher() -> Iterator[launch.Launcher]:
    with launch.Launcher(fork=True) as started:
        yield started


def test_there_are_many() -> None:
    assert len(CASES) >= 45


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_facts(launcher: launch.Launcher, case: Path) -> None:
    result = results.judge_facts(launcher, case, limit=100)
    if result["facts_missing"].startswith("needs "):
        pytest.skip(f"{case.stem} {result['facts_missing']}")
    assert result["facts"] == []


FILE = "/somewhere/toy.py"
REPORT = Report(
    environment=Environment(graphlens="0", torch="2.13.0", python="3.11"),
    frames=(
        Frame(
            id="0",
            function="fn",
            file=FILE,
            line=3,
            outcome="recompile_limit",
            compilations=(Compilation(compile_id="0/2", outcome="recompile_limit"),),
        ),
    ),
    breaks=(GraphBreak(file=FILE, line=4, kind="Some reason", records=3),),
    recompiles=(
        Recompile(
            frame="0",
            function="fn",
            file=FILE,
            line=3,
            compile_id="0/1",
            causes=(
                GuardFailure(
                    failed="0/0",
                    guard="n == 1.25",
                    user_line=SourceLocation(file="toy.py", line=5),
                ),
            ),
        ),
    ),
)
BREAK = {"line": 4, "torch_reason": "Some reason", "function_skipped": False}
RECOMPILE = {
    "call": 1,
    "function": "fn",
    "at": "toy.py:3",
    "guard": "n == <clock reading>",
    "line": 5,
    "reasons_listed": 1,
}
EXPECT = {
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 3,
    "breaks": [{**BREAK, "times": 1}, {**BREAK, "times": 2}],  # the same, met in two places
    "recompile_count": 1,
    "recompiles": [RECOMPILE, {**RECOMPILE, "call": 2, "reasons_listed": 2}],
    "recompile_limit_hit": [{"call": 2, "function": "fn"}],
}


def differences(change: dict) -> list[str]:
    return facts.differences(REPORT, {**EXPECT, **change}, Path(FILE), "2.13.0")


def test_the_same_facts() -> None:
    assert differences({}) == []


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"graphs": 1}, "graphs: 1 expected, 0 "),
        ({"ops_per_graph": [2]}, "operators per graph: [2] expected"),
        ({"break_count": 2}, "break records: 2 expected, 3 "),
        ({"breaks": []}, "break not expected: line 4, split, 3 records: Some reason"),
        ({"breaks": [{**BREAK, "times": 3, "line": 5}]}, "break missing in the report: line 5"),
        ({"breaks": [{**BREAK, "times": 3, "torch_reason": "Other"}]}, "break missing"),
        ({"breaks": [{**BREAK, "times": 3, "function_skipped": True}]}, "break missing"),
        ({"recompile_count": 2}, "recompiles: 2 expected, 1 "),
        ({"recompiles": {0: {"guard": "m == 1"}}}, "recompile 0 guard: m == 1 expected"),
        ({"recompiles": {0: {"line": 6}}}, "recompile 0 quoted line: 6 expected, 5 "),
        ({"recompiles": {0: {"at": "toy.py:4"}}}, "recompile 0 of: fn toy.py:4 expected"),
        ({"recompiles": {0: {"reasons_listed": 3}}}, "recompile 0 reasons: 3 expected, 1 "),
        ({"recompile_limit_hit": [], "recompiles": [RECOMPILE]}, "recompile limit hit by: {} "),
    ],
)
def test_another_fact_is_seen(change: dict, seen: str) -> None:
    found = differences({"versions": {"2.13": change}})
    assert any(text.startswith(seen) for text in found), found
    assert (
        facts.differences(REPORT, {**EXPECT, "versions": {"2.14": change}}, Path(FILE), "2.13.0")
        == []
    )


def test_another_cause_is_seen() -> None:
    assert facts.cause_differences(REPORT, {"cause": {4: "other"}}, Path(FILE)) == []
    for cause in ({}, {4: "print_call"}, {4: "other", 5: "other"}, {4: ["other", "generator"]}):
        assert facts.cause_differences(REPORT, {"cause": cause}, Path(FILE))
