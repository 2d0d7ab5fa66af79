"""Graph breaks and recompiles from torch's records. The texts are torch's, of the version named."""

import pytest

from graphlens.analysis.break_records import collect_breaks, parse_break
from graphlens.analysis.causes import classify
from graphlens.model import SourceLocation, TraceRecord

BRANCH = """Graph break in user code at /home/me/rec.py:20
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support tracing dynamic control flow.

      The branch condition involves a tensor computed as follows:
        gt = gt(sum_1, 0)

  Hint: This graph break is fundamental.
  Hint: Use `torch.cond` to express dynamic control flow.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://example.org/gb/gb0170.html

User code traceback:
  File "/home/me/rec.py", line 25, in <module>
    m(x).backward()
  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1778, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/home/me/rec.py", line 20, in forward
    if x.sum()>0:
       ^^^^^^^^^

NoneType: None
"""  # torch 2.13

SKIPPED = """Graph break in user code at /home/me/loop.py:14
Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph break encountered:

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print`
  Hint: Avoid calling builtin `print`.

  Developer debug context: builtin print

 For more details about this graph break, please visit: https://example.org/gb/gb0059.html

*** While handling this graph break, another graph break occurred: ***

graph break in loop
  Explanation: torch.compile detected a graph break in a for/while loop.
  Hint: This graph break may have been caused by an earlier graph break.

User code traceback:
  File "/home/me/loop.py", line 14, in relax
    print("turn", i)

Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/_dynamo/symbolic_convert.py", line 1950, in run
    while self.step():
"""  # torch 2.13

LIBRARY = """Graph break in user code at /opt/venv/lib/python3.11/site-packages/scipy/x.py:7
Graph Break Reason: Unsupported method call
  Explanation: Dynamo does not know how to trace method `f`

User code traceback:
  File "/home/me/main.py", line 3, in step
    return special(x)
  File "/opt/venv/lib/python3.11/site-packages/scipy/x.py", line 7, in special
    return f(x)
"""

GUARD = """Graph break in user code at /home/me/rec.py:20
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Consider annotating your code using torch._check*(). Could not guard on data-dependent expression zuf0 > 3.0 (unhinted: zuf0 > 3.0).  (Size-like symbols: none)

consider using data-dependent friendly APIs such as guard_or_false, guard_or_true and statically_known_true.
Caused by: if x.sum()>0:  # me/rec.py:20 in forward (_dynamo/variables/tensor.py:2849 in evaluate_expr)
For more information, run with TORCH_LOGS="dynamic"

User Stack (most recent call last):
  (snipped, see stack below for prefix)
  File "/home/me/rec.py", line 20, in forward
    if x.sum()>0:
       ^^^^^^^^^

For C++ stack trace, run with TORCHDYNAMO_EXTENDED_DEBUG_CPP=1
For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html#constrain-as-size-example

User code traceback:
  File "/home/me/rec.py", line 25, in <module>
    m(x).backward()
  File "/home/me/rec.py", line 20, in forward
    if x.sum()>0:
       ^^^^^^^^^

Traceback (most recent call last):
"""  # torch 2.14

USER_ERROR = """Graph break in user code at /home/me/rec.py:20
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Dynamic slicing on data-dependent value is not supported
For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html#x

User code traceback:
  File "/home/me/rec.py", line 20, in forward
    if x.sum()>0:
"""


def record(
    payload: str, compile_id: str = "0/0", kind: str = "dynamo_graph_break_reason"
) -> TraceRecord:
    return TraceRecord(kind=kind, compile_id=compile_id, payload=payload)


def test_a_break_that_splits() -> None:
    found = parse_break(record(BRANCH))
    assert (found.file, found.line, found.function) == ("/home/me/rec.py", 20, "forward")
    assert found.code == "if x.sum()>0:"
    assert found.kind == "Data-dependent branching"
    assert found.gb_code == "GB0170"
    assert found.consequence == "split"
    assert found.explanation.startswith("Detected data-dependent branching (e.g. `if")
    assert found.explanation.endswith("gt = gt(sum_1, 0)")
    assert found.hints == (
        "This graph break is fundamental.",
        "Use `torch.cond` to express dynamic control flow.",
    )
    assert found.context == "attempted to jump with TensorVariable()"
    assert [frame.line for frame in found.stack] == [25, 1778, 20]


def test_a_frame_given_up_names_the_first_cause() -> None:
    found = parse_break(record(SKIPPED))
    assert found.kind == "Failed to trace builtin operator"
    assert found.consequence == "frame_skipped"
    assert found.gb_code == "GB0059"
    assert found.explanation == "Dynamo does not know how to trace builtin operator `print`"
    assert found.hints == ("Avoid calling builtin `print`.",)
    assert [frame.line for frame in found.stack] == [14]


def test_a_break_in_a_library_is_at_the_users_line() -> None:
    found = parse_break(record(LIBRARY))
    assert (found.file, found.line) == ("/home/me/main.py", 3)
    assert found.points_to == SourceLocation(
        file="/opt/venv/lib/python3.11/site-packages/scipy/x.py",
        line=7,
        function="special",
        code="return f(x)",
    )


def test_one_cause_logged_often_is_one_break() -> None:
    found = collect_breaks(
        [record(BRANCH), record(SKIPPED, "1/0"), record(BRANCH, "0/1"), record("", kind="str")]
    )
    assert [(b.line, b.records, b.compile_ids) for b in found] == [
        (20, 2, ("0/0", "0/1")),
        (14, 1, ("1/0",)),
    ]


def test_a_guard_that_cannot_be_has_a_kind_without_numbers() -> None:
    found = parse_break(record(GUARD))
    assert found.kind == "Could not guard on data-dependent expression"
    assert classify(found) == "data_dependent_branch"
    assert parse_break(record(USER_ERROR)).kind == (
        "Dynamic slicing on data-dependent value is not supported"
    )


@pytest.mark.parametrize("texts", [(GUARD, BRANCH), (BRANCH, GUARD)])
def test_a_branch_told_in_two_ways_is_one_break(texts: tuple[str, str]) -> None:
    (found,) = collect_breaks([record(text, f"{n}/0") for n, text in enumerate(texts)])
    assert (found.kind, found.gb_code) == ("Data-dependent branching", "GB0170")
    assert found.explanation.startswith("Detected data-dependent branching")
    assert found.context == "attempted to jump with TensorVariable()"
    assert (found.records, found.compile_ids) == (2, ("0/0", "1/0"))


def test_the_rest_of_a_function_that_runs_eager_is_not_a_plain_split() -> None:
    """Torch 2.11 to 2.14: a break in `try` with a line before it where torch can go on."""
    rest = (
        "Encountered graph break that we cannot resume from. Compiling up to the previous "
        "resumable state, then skipping the rest of the function. Graph break encountered:\n\n"
    )
    text = BRANCH.replace("Data-dependent branching\n", f"{rest}Data-dependent branching\n", 1)
    found = parse_break(record(text))
    assert (found.consequence, found.rest_eager) == ("split", True)
    assert found.kind == "Data-dependent branching"
    assert not parse_break(record(BRANCH)).rest_eager
