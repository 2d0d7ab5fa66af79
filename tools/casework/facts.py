"""What a report says of a case, held against what torch said when the case was measured.

`capture` runs a case in this process with nothing compiled, and gives the report. `differences`
compares it with the case's ``EXPECT``, whose facts come from torch's own log: how many graphs with
how many operators, where they break and why, what was compiled again and for which guard.
"""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any, TypedDict

import torch

import graphlens
from casework import outcome
from casework.digest import short
from casework.versions import Expect, expected
from graphlens.model import Report, Unavailable

QUIET = {"graphlens.show": "none"}
_MODULE = "torch/_dynamo/external_utils.py"  # torch names its `inner` there, not the user's module


class Answer(TypedDict, total=False):
    """What the process that ran a case found; without `differences` where it did not get there."""

    ended: str
    differences: list[str]
    causes: list[str]
    breaks: str
    recompiles: str


def run(path: Path, backend: str, options: dict[str, object]) -> Answer:
    """Captures the case and compares, in this process."""
    report, case, ended = capture(path, backend, options)
    if ended:
        return Answer(ended=ended)
    expect = expected(path, case.EXPECT, torch.__version__)
    return Answer(
        ended="",
        differences=differences(report, case.EXPECT, path, torch.__version__),
        causes=cause_differences(report, expect, path),
        breaks=breaks_text(report),
        recompiles=recompiles_text(report),
    )


def capture(
    path: Path, backend: str = "graphlens_eager", options: dict[str, object] | None = None
) -> tuple[Report, Any, str]:
    """The report of a case, its module, and why it ended early; empty where it did not.

    What its calls raise belongs to the case, and does not end it.
    """
    with graphlens.record() as lens:
        ended = outcome.run(path, backend, {**QUIET, **(options or {})})["ended"]
    return lens.report(), sys.modules.get(path.stem), ended


def differences(report: Report, expect: Expect, case: Path, torch_version: str) -> list[str]:
    """Every fact in which the report differs; empty when it says just what torch said.

    Args:
        report: Of a capture of the case.
        expect: The case's ``EXPECT``.
        case: The case's file.
        torch_version: That the report was made with.
    """
    expect = expected(case, expect, torch_version)
    if isinstance(report.breaks, Unavailable) or isinstance(report.recompiles, Unavailable):
        return [f"no facts: breaks {report.breaks}, recompiles {report.recompiles}"]
    operators = [len(g.operators) for g in report.graphs if g.stage == "dynamo"]
    found = _unequal("graphs", expect["graphs"], len(operators))
    found += _unequal("operators per graph", expect["ops_per_graph"], operators)
    records = sum(one.records for one in report.breaks)
    found += _unequal("break records", expect["break_count"], records)
    found += _break_differences(report, expect, case)
    found += _unequal("recompiles", expect["recompile_count"], len(report.recompiles))
    found += _recompile_differences(report, expect, case)
    limits = Counter(hit["function"] for hit in expect.get("recompile_limit_hit", ()))
    return found + _unequal("recompile limit hit by", dict(limits), _limits(report))


def cause_differences(report: Report, expect: Expect, case: Path) -> list[str]:
    """Broken lines whose class of cause is not the one that ``EXPECT["cause"]`` names."""
    if "cause" not in expect or isinstance(report.breaks, Unavailable):
        return []
    got: dict[int, set[str]] = {}
    for one in report.breaks:
        got.setdefault(one.line if _is(one.file, case) else 0, set()).add(one.cause)
    wanted = {
        line: {cause} if isinstance(cause, str) else set(cause)
        for line, cause in expect["cause"].items()
    }
    return [
        text
        for line in sorted(wanted | got)
        for text in _unequal(f"cause at line {line}", wanted.get(line), got.get(line))
    ]


def breaks_text(report: Report) -> str:
    """Breaks in a few words: ``10 at 1 line``, records being those of torch's log."""
    if isinstance(report.breaks, Unavailable):
        return str(report.breaks)
    lines = len({(one.file, one.line) for one in report.breaks})
    records = sum(one.records for one in report.breaks)
    return f"{records} at {lines} line{'s'[: lines != 1]}" if records else "0"


def recompiles_text(report: Report) -> str:
    """Recompiles in a few words: ``3, limit hit``."""
    if isinstance(report.recompiles, Unavailable):
        return str(report.recompiles)
    return f"{len(report.recompiles)}{', limit hit' if _limits(report) else ''}"


def _break_differences(report: Report, expect: Expect, case: Path) -> list[str]:
    """A line with a reason is one break, in however many places torch meets it."""
    assert not isinstance(report.breaks, Unavailable)
    groups: dict[tuple[int | None, str], list[Any]] = {}
    for one in expect["breaks"]:
        group = groups.setdefault((one["line"], one["torch_reason"]), [False, 0])
        group[0] |= one["function_skipped"]
        group[1] += one["times"]
    want = Counter(_break_text(*key, *group) for key, group in groups.items())
    got = Counter(
        _break_text(
            one.line if _is(one.file, case) else None,
            short(one.kind),
            one.consequence == "frame_skipped",
            one.records,
        )
        for one in report.breaks
    )
    missing = [f"break missing in the report: {text}" for text in (want - got).elements()]
    return missing + [f"break not expected: {text}" for text in (got - want).elements()]


def _break_text(line: int | None, reason: str, skipped: bool, records: int) -> str:
    return f"line {line}, {'skipped' if skipped else 'split'}, {records} records: {reason}"


def _recompile_differences(report: Report, expect: Expect, case: Path) -> list[str]:
    assert not isinstance(report.recompiles, Unavailable)
    found: list[str] = []
    for i, (want, got) in enumerate(zip(_kept(expect), report.recompiles, strict=False)):
        where = f"recompile {i}"
        cause = got.causes[0] if got.causes else None
        quoted = cause and cause.user_line
        if want["at"].startswith(_MODULE):
            found += _unequal(f"{where} named as torch does", False, got.function == "inner")
        else:
            place = f"{got.function} {short(got.file)}:{got.line}"
            found += _unequal(f"{where} of", f"{want['function']} {want['at']}", place)
        if not _same_guard(want["guard"], short(cause.guard) if cause else ""):
            found += _unequal(f"{where} guard", want["guard"], cause and cause.guard)
        line = quoted.line if quoted and _is(quoted.file, case) else None
        # Torch's text names the line of another reason, or the outermost of the lines it was at.
        found += _unequal(f"{where} quoted line", want.get("used_at", want["line"]), line)
        found += _unequal(f"{where} reasons", want["reasons_listed"], len(got.causes))
    return found


def _kept(expect: Expect) -> list[Expect]:
    """Recompiles without those that torch logs at its limit, where it compiles nothing."""
    kept = list(expect["recompiles"])
    for hit in expect.get("recompile_limit_hit", ()):
        same = [r for r in kept if (r["call"], r["function"]) == (hit["call"], hit["function"])]
        kept.remove(same[-1])
    return kept


def _same_guard(want: str, got: str) -> bool:
    """Whether a guard is the expected one; ``<clock reading>`` and such stand for any value."""
    parts = re.split(r"<[a-z]+(?: [a-z]+)*>", want)
    return re.fullmatch(".+".join(map(re.escape, parts)), got, re.S) is not None


def _limits(report: Report) -> dict[str, int]:
    """Functions that reached torch's recompile limit, and how often."""
    return dict(
        Counter(
            frame.function
            for frame in report.frames
            for compilation in frame.compilations
            if compilation.outcome == "recompile_limit"
        )
    )


def _is(file: str, case: Path) -> bool:
    """Whether torch means the case; it may quote only the end of the path."""
    return Path(file).name == case.name


def _unequal(what: str, want: object, got: object) -> list[str]:
    return [] if want == got else [f"{what}: {want} expected, {got} in the report"]
