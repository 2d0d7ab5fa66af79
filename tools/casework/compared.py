"""What ``graphlens.compare`` says of a case, held against what was measured and the case's notes.

`run` compares a case compiled with a backend and in eager, in this process. `inconsistencies` says
where the verdict is other than the case's ``EXPECT``: a disagreement missed or invented, one that
begins elsewhere, or one that is not explained.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

import torch

from casework.case_program import CaseProgram, options_of
from casework.explained import EXPLAINED
from casework.outcome import load
from casework.versions import Expect, expected
from graphlens.checks.compare import compare_program
from graphlens.model import Accuracy, Divergence, Report

_STRIDES = re.compile(r"call (\d+) (.*): (\(.*\)) vs (\(.*\))")
_TYPES = re.compile(r"(call \d+): (.*) vs (.*)")
_NO_FAULT = ("agrees", "rounding", "not_comparable")


class Answer(TypedDict, total=False):
    """What a comparison found; only `ended` where there is no report."""

    ended: str
    verdict: str
    origin: str
    said: str
    inconsistent: list[str]


def run(path: Path, backend: str, options: dict[str, object]) -> Answer:
    """Compares a case in this process; its import or ``make`` may end it."""
    try:
        case = load(path)
        report = compare_program(CaseProgram(case), options_of(case, backend, options))
    except ImportError as error:
        return Answer(ended=f"needs {error.name or error}")
    if not isinstance(report.accuracy, Accuracy):
        return Answer(ended=f"no verdict: {report.accuracy}")
    expect = expected(path, case.EXPECT, torch.__version__)
    return Answer(
        ended="",
        verdict=report.accuracy.verdict,
        origin=report.accuracy.origin,
        said=said(report.accuracy),
        inconsistent=inconsistencies(report, path.stem, expect),
    )


def said(accuracy: Accuracy) -> str:
    """The explanation as one line."""
    parts = [accuracy.reason]
    parts += [f"{one.code} {'helps' if one.helps else 'does not help'}" for one in accuracy.tried]
    first = accuracy.first_divergence
    if isinstance(first, Divergence):
        place = first.called_from or first.source
        line = f" at line {place.line}" if place else ""
        parts.append(f"first `{first.node}`{line}, {first.culprit or 'cause'}: {first.because}")
    elif first is not None:
        parts.append(first.reason)
    return "; ".join(part for part in [*parts, *accuracy.remarks] if part)


def inconsistencies(report: Report, name: str, expect: Expect) -> list[str]:
    """Where a comparison says something else than was measured; empty when it is consistent.

    Args:
        report: Of the comparison.
        name: The case's.
        expect: Its ``EXPECT``, as it is for this torch.
    """
    accuracy = report.accuracy
    assert isinstance(accuracy, Accuracy)
    wrong = sorted(f"call {t.call} {t.name}" for t in accuracy.tensors if t.verdict != "agrees")
    found = _unequal("differ", sorted(map(_place, expect.get("mismatch", ()))), wrong)
    found += _unequal("remarks", sorted(_remarks(expect)), sorted(_of_whole(accuracy.remarks)))
    if expect["agrees"]:
        found += _unequal("verdict", "agrees", accuracy.verdict)
        found += _invented(report)
        return found
    explanation = EXPLAINED[name]
    found += _unequal("verdict", explanation.verdict, accuracy.verdict)
    found += _unequal("origin", explanation.origin, accuracy.origin)
    found += _unequal(
        "agrees as captured", expect["agrees_without_inductor"], accuracy.origin != "capture"
    )
    text = said(accuracy)
    more = explanation.more.get(".".join(torch.__version__.split(".")[:2]), ())
    words = [*explanation.words, *more, *_raised(expect)]
    return found + [f"not said: {word} (said: {text})" for word in words if word not in text]


def _invented(report: Report) -> list[str]:
    """Graphs that are called wrong although the program agrees."""
    return [
        f"graph {graph.id}: {graph.accuracy.verdict}, though all agrees: {graph.accuracy.reason}"
        for graph in report.graphs
        if isinstance(graph.accuracy, Accuracy) and graph.accuracy.verdict not in _NO_FAULT
    ]


def _place(mismatch: str) -> str:
    """A place in ``EXPECT`` as comparisons name it; without what the call raised."""
    call, _, raised = mismatch.partition(": ")
    number, _, name = call.removeprefix("call ").partition(" ")
    return f"call {number} {'the call' if raised else _name(name)}"


def _name(name: str) -> str:
    if name.startswith("out"):
        return f"output{name[3:]}"
    argument = re.fullmatch(r"arg(\d+)(.*)", name)
    if argument and argument[2] == ".grad":
        return f"gradient of argument {argument[1]}"
    if argument:
        return f"argument {argument[1]}{argument[2]} after the call"
    return f"gradient of {name[:-5]}" if name.endswith(".grad") else name


def _remarks(expect: Expect) -> Iterable[str]:
    for text in expect.get("strides_differ", ()):
        call, name, eager, compiled = _STRIDES.fullmatch(text).groups()
        yield f"call {call}, {_name(name)}: strides {compiled}, in eager {eager}"
    for text in expect.get("output_types_differ", ()):
        call, eager, compiled = _TYPES.fullmatch(text).groups()
        yield f"{call} returns a {compiled}, in eager a {eager}"


def _of_whole(remarks: Iterable[str]) -> list[str]:
    """Without those on the type of one output, which ``EXPECT`` does not have."""
    return [text for text in remarks if ": type " not in text]


def _raised(expect: Expect) -> list[str]:
    """Errors that only one side raises."""
    return [
        one["eager"] or one["compiled_inductor"]
        for one in expect["raises"]
        if one["eager"] != one["compiled_inductor"]
    ]


def _unequal(what: str, want: Any, got: Any) -> list[str]:
    return [] if want == got else [f"{what}: {want} expected, {got} found"]
