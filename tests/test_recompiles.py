"""Recompiles as what changed: torch's text of guards, and what a live run sees besides."""

import enum
import functools
import json
import re
import time
from collections.abc import Callable
from typing import Any, get_args

import pytest

from graphlens.analysis.crossed_values import assigned_name
from graphlens.analysis.guard_subjects import Speaker
from graphlens.analysis.guard_terms import GuardKind, GuardTerms, guard_terms
from graphlens.analysis.recompile_records import listed_reasons, parse_causes
from graphlens.analysis.recompiles import collect_recompiles, with_recompile_advice
from graphlens.model import (
    Compilation,
    Difference,
    Frame,
    GuardFailure,
    Recompile,
    SourceLocation,
    TraceRecord,
)
from graphlens.renderers.findings.of_recompiles import of_recompiles


def reasons(payload: str, seen: dict[str, Any] | None = None) -> TraceRecord:
    return TraceRecord(
        kind="recompile_reasons",
        compile_id="0/2",
        payload=payload,
        data={"seen": seen} if seen else {},
    )


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        (
            "tensor 'x' size mismatch at index 1. expected 3, actual 4",
            ("tensor_size", "x", "dimension 1", "3", "4"),
        ),
        (
            "tensor 'x' dtype mismatch. expected Float, actual Half",
            ("tensor_dtype", "x", "dtype", "float32", "float16"),
        ),
        (
            "tensor 'x' requires_grad mismatch. expected requires_grad=0",
            ("requires_grad", "x", "requires_grad", "False", "True"),
        ),
        ("tensor 'x' rank mismatch. expected 3, actual 2", ("tensor_rank", "x", "rank", "3", "2")),
        (
            "expected type of 'node[1]' to be a tensor type, ' but found <class 'list'>",
            ("argument_type", "node[1]", "type", "a tensor", "list"),
        ),
        ("2 <= args[0].size()[0]", ("tensor_size", "args[0]", "dimension 0", "at least 2", "")),
        ("self.training == True", ("training_flag", "self.training", "", "True", "")),
        ("GLOBAL_STATE changed: grad_mode ", ("global_state", "", "grad_mode", "", "")),
        ("G['STEP'] == 3", ("global_value", "G['STEP']", "", "3", "")),
        ("self.step == 0", ("attribute_value", "self.step", "", "0", "")),
        ("mode == 'sum'", ("string_value", "mode", "", "'sum'", "")),
        ("lr == 0.1", ("float_value", "lr", "", "0.1", "")),
        ("n == 3", ("int_value", "n", "", "3", "")),
        ("keep == True", ("bool_value", "keep", "", "True", "")),
        ("___stack0[0] != 1", ("value_at_graph_break", "___stack0[0]", "", "not 1", "")),
        ("not self.history", ("container_length", "self.history", "length", "0", "")),
        ("len(xs) == 2", ("container_length", "xs", "length", "2", "")),
        ("mask is None", ("none_or_value", "mask", "", "None", "")),
        ("a.front is a.back", ("object_identity", "a.front", "identity",
                               "the same object as a.back", "")),
        ("___check_type_id(L['x'], 12), type=<class 'list'> (HINT: type list)",
         ("argument_type", "L['x']", "type", "list", "")),
        ("something new in torch", ("other", "", "", "", "")),
    ],
)  # fmt: skip
def test_terms_of_a_guard(guard: str, expected: tuple[str, ...]) -> None:
    assert guard_terms(guard) == GuardTerms(*expected)


@pytest.mark.parametrize(
    ("source", "aspect", "subject"),
    [
        ("x", "dimension 1", "argument `x`, dimension 1"),
        ("scale", "", "closure variable `scale`"),
        ("other", "", "variable `other`"),
        ("xs", "length", "length of argument `xs`"),
        ("self.step", "", "`self.step`"),
        ("self._modules['a']._modules['0'].training", "", "training mode of `self.a[0]`"),
        ("G['STEP']", "", "global `STEP`"),
        ("G['os'].environ._data[b'FAST']", "", "environment variable `FAST`"),
        ("args[0]", "dtype", "argument `input`, dtype"),
        ("fn._modules['1'].training", "", "training mode of `Sequential[1]`"),
        ("___stack0", "", "the value of `top`"),
    ],
)
def test_a_guard_in_the_users_terms(source: str, aspect: str, subject: str) -> None:
    speaker = Speaker(
        names={"args[0]": "input", "fn": "Sequential"},
        arguments=("self", "x", "xs"),
        closure=("scale",),
        crossed={"___stack0": "the value of `top`"},
    )
    assert speaker.subject("", source, aspect) == subject


def test_reasons_of_one_entry_and_of_several() -> None:
    stacked = "0/0: n == 2   # y = x * n  # app/run.py:12 in f\nUser stack trace:\n  File x"
    assert listed_reasons(stacked) == (("0/0", "n == 2"),)
    assert listed_reasons('["0/1: self.step == 1", "0/0: self.step == 0"]') == (
        ("0/1", "self.step == 1"),
        ("0/0", "self.step == 0"),
    )


def test_the_line_torch_quotes_for_a_guard() -> None:
    text = "0/0: G['STEP'] == 3  # y = x * STEP  # app/run.py:12 in f"
    (cause,) = parse_causes(reasons(text))
    assert cause == GuardFailure(
        failed="0/0",
        guard="G['STEP'] == 3",
        kind="global_value",
        source="G['STEP']",
        subject="global `STEP`",
        expected="3",
        user_line=SourceLocation(file="app/run.py", line=12, function="f", code="y = x * STEP"),
    )


def test_the_nearest_compilation_is_the_one_with_fewest_failed_guards() -> None:
    """Torch lists the mode first for both; what this call needs is one more requires_grad."""
    mode = {"kind": "global_state", "source": "", "aspect": "grad_mode",
            "expected": "False", "actual": "True"}  # fmt: skip
    grad = {"kind": "requires_grad", "source": "x", "aspect": "requires_grad",
            "expected": "False", "actual": "True"}  # fmt: skip
    record = reasons(
        '["0/1: GLOBAL_STATE changed: grad_mode", "0/0: tensor \'x\' requires_grad mismatch. '
        'expected requires_grad=0"]',
        {"0/1": [mode, grad], "0/0": [grad]},
    )
    (found,) = collect_recompiles([record])
    assert found.nearest == "0/0"
    assert found.differences == (
        Difference(subject="variable `x`, requires_grad", before="False", after="True"),
    )
    assert [(c.subject, c.expected, c.actual) for c in found.causes] == [
        ("grad mode", "False", "True"),
        ("variable `x`, requires_grad", "False", "True"),
    ]


def test_without_a_live_run_torchs_first_reason_has_to_do() -> None:
    (found,) = collect_recompiles([reasons("0/1: n == 2")])
    assert (found.nearest, found.differences) == (
        "0/1",
        (Difference(subject="variable `n`", before="2", after=""),),
    )


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("top = x.max().item()", "top"),
        ("self.top = f(x)", "self.top"),
        ("y = x + g(x)", ""),
        ("a, b = f(x)", ""),
        ("for i in range(", ""),
        ("", ""),
    ],
)
def test_the_name_a_value_gets(code: str, name: str) -> None:
    assert assigned_name(code) == name


def test_compilations_without_a_graph_use_up_the_limit_too() -> None:
    again = Recompile(frame="0", function="f", file="a.py", line=1, compile_id="0/1")
    frame = Frame(
        id="0",
        function="f",
        file="a.py",
        line=1,
        outcome="compiled",
        compilations=(
            Compilation(compile_id="0/0", outcome="no_graph"),
            Compilation(compile_id="0/1", outcome="compiled"),
        ),
        limit=8,
    )
    found = of_recompiles([again], frame, "")
    assert "2 of 8 compilations are used" in found.title
    assert ("0/0", "the first compilation; no_graph") in found.facts


STEP = 3.0


def live_recompiles(call: Callable[[Any], None], fn: Any) -> tuple[Recompile, ...]:
    import torch

    import graphlens

    with graphlens.record() as lens:
        call(torch.compile(fn, backend="eager"))
    found = lens.report().recompiles
    assert isinstance(found, tuple)
    return found


@pytest.mark.usefixtures("compiles")
def test_all_that_changed_is_told_and_not_only_the_first_guard() -> None:
    import torch

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.index = 0

        def forward(self, x: torch.Tensor, mode: str = "sum") -> torch.Tensor:
            return x * self.index if mode == "sum" else x - self.index

    layer = Layer()

    def call(compiled: Any) -> None:
        compiled(torch.ones(3, 4))
        layer.index = 1
        compiled(torch.ones(3, 5, requires_grad=True), "mean")

    (found,) = live_recompiles(call, layer)
    changes = {(d.subject, d.before, d.after) for d in found.differences}
    assert changes == {
        ("argument `x`, dimension 1", "4", "5"),
        ("argument `x`, requires_grad", "False", "True"),
        ("argument `mode`", "'sum'", "'mean'"),
        ("`self.index`", "0", "1"),
    }
    assert found.called_from is not None
    assert found.called_from.function == "call"


@pytest.mark.usefixtures("compiles")
def test_globals_modes_and_what_became_dynamic() -> None:
    import torch

    def fn(x: torch.Tensor) -> torch.Tensor:
        return x.sum(0) * STEP

    def call(compiled: Any) -> None:
        compiled(torch.ones(3, 4))
        compiled(torch.ones(5, 4))
        with torch.no_grad():
            compiled(torch.ones(5, 4))
        globals()["STEP"] = 4.0
        compiled(torch.ones(7, 4))

    import graphlens

    with graphlens.record() as lens:
        call(torch.compile(fn, backend="eager"))
    report = lens.report()
    assert isinstance(report.recompiles, tuple)
    assert [
        [(d.subject, d.before, d.after) for d in one.differences] for one in report.recompiles
    ] == [
        [("argument `x`, dimension 0", "3", "5")],
        [("grad mode", "True", "False")],
        [("global `STEP`", "3.0", "4.0")],
    ]
    (frame,) = report.frames
    assert frame.limit == torch._dynamo.config.recompile_limit
    assert frame.compilations[0].dynamic == ()
    assert frame.compilations[1].dynamic == ("argument `x`, dimension 0",)


def changes(found: tuple[Recompile, ...]) -> list[list[tuple[str, str, str]]]:
    return [[(d.subject, d.before, d.after) for d in one.differences] for one in found]


class Scaled:
    def __call__(self, x: Any, scale: float = 1.0, *, flag: bool = False) -> Any:
        return x * scale + flag


def scaled(x: Any, scale: float = 1.0, *, flag: bool = False) -> Any:
    return x * scale + flag


def handed_on(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper


@pytest.mark.usefixtures("compiles")
@pytest.mark.parametrize("fn", [Scaled(), handed_on(scaled)])
def test_keyword_arguments_of_what_is_wrapped(fn: Any) -> None:
    import torch

    def call(compiled: Any) -> None:
        compiled(torch.ones(3), scale=2.0)
        compiled(torch.ones(3), scale=3.0)
        compiled(torch.ones(3))
        compiled(torch.ones(3), scale=3.0, flag=True)
        compiled(torch.ones(4))

    found = live_recompiles(call, fn)
    assert changes(found) == [
        [("argument `scale`", "2.0", "3.0")],
        [("keyword arguments", "scale", "none")],
        [("keyword arguments", "none", "scale, flag")],
        [("argument `x`, dimension 0", "3", "4")],
    ]
    assert found[1].advice == (
        "Give the same keyword arguments in every call; each set of them is a program of its own.",
    )
    assert found[0].advice[0].startswith("Pass scale as a tensor")


@pytest.mark.usefixtures("compiles")
def test_a_partial_is_the_function_that_it_is_of() -> None:
    import torch

    def call(compiled: Any) -> None:
        compiled(2.0)
        compiled(3.0)
        compiled(3.0, flag=True)

    fn = functools.partial(functools.partial(scaled, torch.ones(3)))
    found = live_recompiles(call, fn)
    assert {one.function for one in found} == {"scaled"}
    assert changes(found) == [
        [("argument `scale`", "2.0", "3.0")],
        [("keyword arguments", "none", "flag")],
    ]


@pytest.mark.usefixtures("compiles")
def test_collected_arguments_are_arguments() -> None:
    import torch

    def fn(x: Any, *rest: float, **named: float) -> Any:
        return x * sum(rest) * sum(named.values())

    def call(compiled: Any) -> None:
        compiled(torch.ones(3), 1.0, a=2.0)
        compiled(torch.ones(3), 1.0, 2.0, a=2.0)
        compiled(torch.ones(3), 1.0, b=2.0)

    found = live_recompiles(call, fn)
    assert changes(found) == [
        [("length of argument `rest`", "1", "2")],
        [("keyword arguments", "a", "b")],
    ]
    assert "torch.stack" not in found[0].advice[0]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Box:
    value: float


BOX = Box()


@pytest.mark.usefixtures("compiles")
def test_members_of_enums_dtypes_and_what_is_gone() -> None:
    import torch

    def fn(x: Any, colour: Colour = Colour.RED) -> Any:
        y = x + torch.zeros(3) if colour is Colour.RED else x - torch.ones(3)
        return y * BOX.value if hasattr(BOX, "value") else y

    def call(compiled: Any) -> None:
        BOX.value = 2.0
        compiled(torch.ones(3))
        compiled(torch.ones(3), Colour.BLUE)
        try:
            torch.set_default_dtype(torch.float64)
            compiled(torch.ones(3, dtype=torch.float32))
        finally:
            torch.set_default_dtype(torch.float32)
        del BOX.value
        compiled(torch.ones(3))

    found = live_recompiles(call, fn)
    assert changes(found)[:2] == [
        [("argument `colour`", "Colour.RED", "Colour.BLUE")],
        [("default dtype", "float32", "float64")],
    ]
    assert "not there" in {change.after for change in found[2].differences}
    assert found[0].advice == ("Each value is a program of its own: that is normal for a few.",)


def test_modes_of_a_tensor_and_a_missing_attribute_from_text() -> None:
    keys = "DispatchKeySet(CPU, AutogradCPU)"
    mode, gone = (
        collect_recompiles([reasons(f"0/0: {text}")])[0].differences[0]
        for text in (
            f"tensor 'x' dispatch key set mismatch. expected {keys}, actual DispatchKeySet(CPU)",
            "getattr failed on source G['box'].v",
        )
    )
    assert (mode.subject, mode.before, mode.after) == (
        "variable `x`, kind of tensor (such as inference mode)",
        "with AutogradCPU",
        "without AutogradCPU",
    )
    assert (gone.subject, gone.after) == ("global `box.v`", "not there")


def test_a_size_is_a_smaller_difference_than_a_rank() -> None:
    def terms(kind: str, aspect: str) -> dict[str, str]:
        return {"kind": kind, "source": "x", "aspect": aspect, "expected": "1", "actual": "2"}

    sizes = [terms("tensor_size", f"dimension {index}") for index in range(2)]
    record = reasons(
        '["0/1: tensor \'x\' rank mismatch. expected 1, actual 2", "0/0: n == 2"]',
        {"0/1": [terms("tensor_rank", "rank")], "0/0": sizes},
    )
    assert collect_recompiles([record])[0].nearest == "0/0"


def test_a_dimension_is_marked_only_where_the_users_call_enters() -> None:
    def fixes(function: str, caller: str) -> list[str]:
        change = Difference(subject="argument `x`, dimension 0", before="3", after="4")
        one = Recompile(
            frame="1", function=function, file="a.py", line=1, compile_id="1/1",
            differences=(change,),
            called_from=SourceLocation(file="a.py", line=9, function=caller),
        )  # fmt: skip
        frames = [
            Frame(id="0", function="outer", file="a.py", line=8, outcome="compiled"),
            Frame(id="1", function=function, file="a.py", line=1, outcome="compiled"),
        ]
        (told,) = with_recompile_advice([one], frames)
        return [fix.code for fix in told.fixes]

    marked = "torch._dynamo.mark_dynamic(x, 0)"
    assert marked in fixes("f", "main")
    for codes in (fixes("f", "outer"), fixes("torch_dynamo_resume_in_f_at_3", "main")):
        assert codes == ["torch.compile(..., dynamic=True)"]


@pytest.mark.usefixtures("compiles")
def test_strides_that_became_dynamic_are_told_as_strides() -> None:
    import torch

    import graphlens

    with graphlens.record() as lens:
        compiled = torch.compile(lambda x: x + 1, backend="eager")
        compiled(torch.ones(4, 6))
        compiled(torch.ones(4, 12)[:, 3:9])
    assert lens.report().frames[0].compilations[1].dynamic == ("argument `x`, stride 0",)


def test_every_kind_of_guard_is_documented() -> None:
    """Those that the analysis can yield: mypy checks that there are no others."""
    text = (GuardFailure.__doc__ or "").partition("kind: ")[2].partition("source: ")[0]
    assert sorted(re.findall("``(.*?)``", text)) == sorted(get_args(GuardKind))


@pytest.mark.alone
def test_hundreds_of_recompiles_of_one_function_take_little_time() -> None:
    records = []
    for new in range(1, 400):
        old = range(new - 1, -1, -1)
        size = [
            f"0/{n}: tensor 'x' size mismatch at index 0. expected {n}, actual {new}" for n in old
        ]
        seen = {
            f"0/{n}": [{"kind": "tensor_size", "source": "x", "aspect": "dimension 0",
                        "expected": str(n), "actual": str(new)}] for n in old
        }  # fmt: skip
        records.append(
            TraceRecord(
                kind="recompile_reasons",
                compile_id=f"0/{new}",
                payload=json.dumps(size),
                data={"seen": seen},
            )
        )
    began = time.process_time()
    found = with_recompile_advice(collect_recompiles(records), ())
    assert len(found) == 399
    # 79,800 reasons: measured at 0.5 s to 0.75 s of CPU time, on a machine with other work.
    assert time.process_time() - began < 3
