"""A graph's call in float64: the same program, with wider kernels."""

import pytest

pytest.importorskip("torch")

import torch
from torch.fx import symbolic_trace
from torch.nn import functional

from graphlens.checks.errors import errors
from graphlens.checks.graph_calls import GraphCall, run
from graphlens.checks.random_nodes import random_nodes, same_bits, unsteady
from graphlens.checks.reference import RandomRounding, reference, rounded, to_nearest
from graphlens.checks.surroundings import surroundings


def traced(function, *inputs, grad=True):
    """A graph and a call of it, without any compiler."""
    with torch.set_grad_enabled(grad):
        return symbolic_trace(function), GraphCall(inputs=list(inputs), around=surroundings())


def test_values_and_gradients_are_in_float64() -> None:
    x = torch.rand(4, 5, requires_grad=True)
    gm, call = traced(lambda x: (x.exp() / 3).sum(-1).log(), x)
    found, kind = reference(gm, call)
    assert (kind, found.error) == ("float64", None)
    wide = x.detach().double().requires_grad_()
    expected = (wide.exp() / 3).sum(-1).log()
    assert found.outputs[0].dtype == torch.float64
    assert torch.equal(found.outputs[0], expected.detach())
    eager = run(gm, call)
    assert found.needs_gradient == eager.needs_gradient == (0,)
    assert errors(eager.gradients[0], found.gradients[0]).max_ulp < 16


def test_casts_are_not_rounded_but_copy_where_they_do_in_eager() -> None:
    def program(x):
        same = x.to(torch.float32)
        same.add_(1)  # writes to x
        other = x.to(torch.bfloat16)
        other.mul_(3)
        return other.float(), x.half()

    gm, call = traced(program, torch.full((3,), 1 / 3), grad=False)
    found, _ = reference(gm, call)
    third = torch.full((3,), 1 / 3).double()
    assert torch.equal(found.inputs[0], third + 1)
    assert torch.equal(found.outputs[0], (third + 1) * 3)
    assert torch.equal(found.outputs[1], third + 1)
    assert run(gm, call).outputs[0].dtype == torch.float32


def test_inputs_that_share_storage_still_do() -> None:
    base = torch.arange(6.0)
    gm, call = traced(lambda a, b, c: (a.add_(1), b * 1, c * 1), base[1:4], base[::2], base)
    found, _ = reference(gm, call)
    for ours, eager in zip(
        found.outputs + found.inputs, run(gm, call).outputs + run(gm, call).inputs, strict=True
    ):
        assert torch.equal(ours, eager.double())
    assert found.inputs[1].stride() == (2,)


def test_random_numbers_are_those_of_eager() -> None:
    def program(x):
        return (
            functional.dropout(x, 0.5),
            x + torch.rand(4),
            x + torch.randn_like(x),
            torch.bernoulli(x),
        )

    for dtype in (torch.float32, torch.bfloat16):
        gm, call = traced(program, torch.rand(4).to(dtype), grad=False)
        found, _ = reference(gm, call)
        for ours, eager in zip(found.outputs, run(gm, call).outputs, strict=True):
            assert errors(eager, ours).max_ulp <= 1


def test_under_autocast_nothing_is_rounded() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        gm, call = traced(
            lambda x, w: functional.softmax(functional.linear(x, w), -1),
            torch.randn(4, 8),
            torch.randn(3, 8),
            grad=False,
        )
    found, kind = reference(gm, call)
    x, w = (value.double() for value in call.inputs)
    assert kind == "float64"
    assert torch.allclose(
        found.outputs[0], functional.softmax(functional.linear(x, w), -1), rtol=1e-12
    )


def test_operators_of_bits_run_in_their_own_dtypes_and_are_named() -> None:
    gm, call = traced(lambda x: ((x * 3).view(torch.int32) & 255, x * 2), torch.rand(4), grad=False)
    found, kind = reference(gm, call)
    assert kind == "float64, except torch.ops.aten.view.dtype in their own precision"
    assert torch.equal(found.outputs[0], run(gm, call).outputs[0])


def test_what_cannot_be_widened_runs_in_eager() -> None:
    gm, call = traced(lambda x: torch.mm(x, torch.ones(2, 2)), torch.eye(2).to_sparse(), grad=False)
    found, kind = reference(gm, call)
    assert kind == "eager: an input is sparse"
    assert torch.equal(found.outputs[0], torch.ones(2, 2))


def test_integers_empty_and_complex() -> None:
    def program(n, e, z):
        return n // 2, e.sum(), z * z.conj(), torch.view_as_real(z) + 1

    gm, call = traced(
        program, torch.arange(4), torch.empty(0), torch.randn(3, dtype=torch.complex64), grad=False
    )
    found, _ = reference(gm, call)
    assert found.error is None
    assert [value.dtype for value in found.outputs] == [
        torch.int64,
        torch.float64,
        torch.complex128,
        torch.float64,
    ]


def test_rounded_to_nearest_is_eager_in_low_precision() -> None:
    x = torch.randn(8, 16).bfloat16().requires_grad_()
    w = torch.randn(16, 16).bfloat16().requires_grad_()
    gm, call = traced(lambda x, w: (torch.tanh(x * 1.7 + w[0]) * w[1]).float() * 3, x, w)
    found, _ = rounded(gm, call, rounding=to_nearest)
    eager = run(gm, call)
    assert torch.equal(found.outputs[0], eager.outputs[0].double())


def test_random_rounding_leaves_exact_values() -> None:
    exact = torch.tensor([0.0, 1.0, -2.5, torch.inf], dtype=torch.float64)
    assert torch.equal(RandomRounding(0, 2.0)(exact, torch.bfloat16), exact)
    third = torch.full((1000,), 1 / 3, dtype=torch.float64)
    moved = RandomRounding(0)(third, torch.float32)
    assert torch.equal(moved.float().double(), moved)
    assert 2 <= len(moved.unique()) <= 4
    assert torch.equal(moved, RandomRounding(0)(third, torch.float32))


def test_nodes_that_draw() -> None:
    def program(x):
        y = functional.dropout(x, 0.5, training=False)
        z = functional.dropout(y, 0.5, training=True)
        return z + torch.zeros_like(z).uniform_()

    gm, call = traced(program, torch.ones(3))
    assert random_nodes(gm, call) == ("dropout_1", "uniform_")
    assert unsteady(gm, call, run(gm, call)).repeats


def test_an_operator_that_gives_other_results_each_time_is_named() -> None:
    count = iter(range(100))

    def counted(x):
        return x + next(count)

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_function(counted, (x,), name="counted"), x))
    gm = torch.fx.GraphModule({}, graph)
    call = GraphCall(inputs=[torch.ones(2)], around=surroundings())
    found = unsteady(gm, call, run(gm, call))
    assert not found.repeats
    assert found.results[0] == (0,)
    assert found.changing == graph.find_nodes(op="call_function", target=counted)[0].name


def test_same_bits() -> None:
    nan = torch.tensor([float("nan"), 1.0])
    assert same_bits(nan, nan.clone())
    assert not same_bits(nan, torch.ones(2))
    assert not same_bits(torch.ones(2), torch.ones(2).double())
    assert same_bits(3, 3)
