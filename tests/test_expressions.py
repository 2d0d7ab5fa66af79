"""Statements of readable graph code, read back into FX calls. Expected values by hand."""

import pytest

from graphlens.analysis.expressions import Call, parse_call

KNOWN = {"x", "y", "x_2", "var_mean", "primals_1"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "torch.ops.aten.add.Tensor(x, 1)",
            Call("call_function", "torch.ops.aten.add.Tensor", ("x", "1"), (), ("x",)),
        ),
        ("x_2.sum()", Call("call_method", "sum", ("x_2",), (), ("x_2",))),
        (
            "x.view(-1, y.size(0))",
            Call("call_method", "view", ("x", "-1", "y.size(0)"), (), ("x", "y")),
        ),
        ("x > 0", Call("call_function", "operator.gt", ("x", "0"), (), ("x",))),
        ("x @ y", Call("call_function", "operator.matmul", ("x", "y"), (), ("x", "y"))),
        ("-x", Call("call_function", "operator.neg", ("x",), (), ("x",))),
        (
            "var_mean[1]",
            Call("call_function", "operator.getitem", ("var_mean", "1"), (), ("var_mean",)),
        ),
        ("x.shape", Call("call_function", "getattr", ("x", "'shape'"), (), ("x",))),
        ("self.layer.conv(x)", Call("call_module", "layer.conv", ("x",), (), ("x",))),
        ('getattr(self.layers, "0")(x)', Call("call_module", "layers.0", ("x",), (), ("x",))),
        ("self.weight", Call("get_attr", "weight")),
        (
            "torch.ops.aten.mean.dim(x, [1], keepdim = True)",
            Call(
                "call_function",
                "torch.ops.aten.mean.dim",
                ("x", "[1]"),
                (("keepdim", "True"),),
                ("x",),
            ),
        ),
        (
            "torch.ops.aten.cat.default([y, x, y])",
            Call("call_function", "torch.ops.aten.cat.default", ("[y, x, y]",), (), ("y", "x")),
        ),
    ],
)
def test_reads_a_call(text: str, expected: Call) -> None:
    assert parse_call(text, KNOWN) == expected


def test_argument_columns_are_bytes_not_characters() -> None:
    call = parse_call("torch.ops.lib.name('zß×', x)", KNOWN)
    assert call.args == ("'zß×'", "x")


def test_what_python_cannot_parse_keeps_target_and_inputs() -> None:
    call = parse_call("torch.ops.lib.op(x, <Mode.FAST: 1>, y)", KNOWN)
    assert (call.op, call.target) == ("call_function", "torch.ops.lib.op")
    assert call.args == ("x, <Mode.FAST: 1>, y",)
    assert call.inputs == ("x", "y")
