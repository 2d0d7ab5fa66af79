"""Graph breaks where none is allowed: an error for the caller, a finding in the report."""

import inspect
import linecache

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.model import Frame, GraphBreak, Unavailable
from graphlens.renderers.findings.ranked import findings

pytestmark = pytest.mark.usefixtures("compiles")


def inner_print(x: torch.Tensor) -> torch.Tensor:
    print("in the middle")
    return x.cos()


def outer(x: torch.Tensor) -> torch.Tensor:
    return inner_print(x.sin())


def library(x: torch.Tensor) -> torch.Tensor:
    return x + inspect.getsource(inner_print).count("x")


def failed(fn: object) -> tuple[graphlens.Report, Frame, GraphBreak]:
    with graphlens.record() as lens, pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(fn, backend="eager", fullgraph=True)(torch.ones(3))
    report = lens.report()
    (frame,) = report.frames
    assert frame.outcome == "failed"
    assert frame.error is not None
    return report, frame, frame.error


def test_it_has_the_cause_the_line_and_the_chain_of_any_break() -> None:
    report, frame, error = failed(outer)
    assert report.breaks == ()
    assert (error.cause, error.trigger) == ("print_call", 'print("in the middle")')
    assert linecache.getline(error.file, error.line).strip() == 'print("in the middle")'
    assert [place.function for place in error.stack] == ["outer", "inner_print"]
    assert isinstance(error.hits, Unavailable)
    assert frame.compilations[0].failed_at == error.stack[-1]
    (found,) = findings(report)
    assert (found.kind, found.cause) == ("failed", "print_call")
    assert found.remedies


def test_in_a_library_it_stands_on_the_users_line() -> None:
    _, frame, error = failed(library)
    assert error.code == 'return x + inspect.getsource(inner_print).count("x")'
    assert frame.compilations[0].failed_at is not None
    assert frame.compilations[0].failed_at.function == "library"


def test_a_compilation_after_an_error_that_is_being_handled_is_not_taken_for_it() -> None:
    with graphlens.record() as lens:
        try:
            torch.compile(outer, backend="eager", fullgraph=True)(torch.ones(3))
        except torch._dynamo.exc.Unsupported:
            torch.compile(torch.sin, backend="eager", fullgraph=True)(torch.ones(3))
            torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    assert [frame.error is not None for frame in lens.report().frames].count(True) == 1
