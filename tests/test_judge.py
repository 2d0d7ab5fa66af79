"""Verdicts: rounding is no fault, and a fault is no rounding."""

import copy
import math
import operator

import pytest

pytest.importorskip("torch")

import torch

from graphlens.checks.call_accuracy import call_accuracy
from graphlens.checks.closeness import ExactCase, FloatCase, close
from graphlens.checks.graph_calls import Outcome, run
from graphlens.checks.judge import graph_verdict, judge
from graphlens.checks.reference import reference
from graphlens.checks.result_names import names_in, remarks
from watched_graphs import watched_graph


def verdict_with(watched, compiled):
    call = watched.calls[0]
    eager = run(watched.gm, call)
    truth, _ = reference(watched.gm, call)
    tensors = judge(watched, call, eager, compiled, truth)
    return graph_verdict(tensors)[0], tensors


def with_fault(watched, node, change):
    """The graph in eager, with the value of one node changed."""
    gm = torch.fx.GraphModule(watched.gm, copy.deepcopy(watched.gm.graph))
    at = next(n for n in gm.graph.nodes if n.name == node)
    with gm.graph.inserting_after(at):
        changed = gm.graph.call_function(change, (at,))
    at.replace_all_uses_with(changed, delete_user_cb=lambda user: user is not changed)
    gm.recompile()
    return run(gm, watched.calls[0])


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(24, 48)
        self.norm = torch.nn.LayerNorm(48)
        self.second = torch.nn.Linear(48, 12)

    def forward(self, x):
        hidden = torch.nn.functional.gelu(self.norm(self.first(x)))
        return torch.softmax(self.second(hidden), -1)


def small(dtype=torch.float32, backend="eager"):
    torch.manual_seed(1)
    watched = watched_graph(
        Small().to(dtype), torch.randn(16, 24).to(dtype), backend=backend, backward=True
    )
    watched.calls[
        0
    ].tangents = None  # those of a sum are all one, and a softmax then has no gradient
    return watched


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_what_inductor_rounds_otherwise_is_no_fault(dtype) -> None:
    watched = small(dtype, "inductor")
    call = watched.calls[0]
    found = call_accuracy(watched, call, run(watched.gm, call), run(watched.compiled, call))
    assert found.verdict in ("agrees", "rounding"), found.reason
    assert found.reference == "float64"
    assert {tensor.role for tensor in found.tensors} == {"output", "gradient"}


def scaled(size):
    """Multiplies by numbers around 1; one number would vanish in a normalization."""
    return lambda value: value * (1 + size * torch.linspace(-1, 1, value.shape[-1])).to(value.dtype)


def operators(watched):
    return [
        node.name
        for node in watched.gm.graph.nodes
        if node.op == "call_function" and isinstance(node.meta.get("example_value"), torch.Tensor)
    ]


@pytest.mark.parametrize("size", [1e-3, 1e-4, -1e-4])
def test_a_fault_in_any_operator_is_seen_in_float32(size: float) -> None:
    watched = small()
    for name in operators(watched):
        found, _ = verdict_with(watched, with_fault(watched, name, scaled(size)))
        assert found == "diverges", name


def test_a_fault_in_any_operator_is_seen_in_bfloat16() -> None:
    watched = small(torch.bfloat16)
    for name in operators(watched):
        found, _ = verdict_with(watched, with_fault(watched, name, scaled(0.5)))
        assert found == "diverges", name


def test_a_fault_in_one_element_is_seen() -> None:
    def spoiled(value):
        return torch.cat([scaled(0.01)(value[:1]), value[1:]])

    watched = small()
    for name in operators(watched):
        assert verdict_with(watched, with_fault(watched, name, spoiled))[0] == "diverges", name


def test_a_wrong_gradient_is_seen_however_small_it_is() -> None:
    watched = small()
    good = run(watched.gm, watched.calls[0])
    number = next(n for n, value in enumerate(good.gradients) if value is not None)
    wrong = Outcome(good.outputs, list(good.gradients), good.inputs, None, good.needs_gradient)
    wrong.gradients[number] = good.gradients[number] * 1.001
    found, tensors = verdict_with(watched, wrong)
    assert found == "diverges"
    assert tensors[0].name.startswith("gradient of parameter `")


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_a_nan_on_one_value_is_seen(special: float) -> None:
    watched = small()
    compiled = run(watched.gm, watched.calls[0])
    compiled.outputs[0][3, 4] = special
    found, tensors = verdict_with(watched, compiled)
    assert found == "diverges"
    assert "1 elements are NaN or infinite" in tensors[0].reason


def test_what_is_not_a_matter_of_values() -> None:
    watched = small()
    call = watched.calls[0]
    eager = run(watched.gm, call)
    none = Outcome(eager.outputs, [None] * len(eager.gradients), eager.inputs)
    assert verdict_with(watched, none)[1][0].reason == "there is no gradient in compiled code"
    shape = Outcome([eager.outputs[0][:3]], eager.gradients, eager.inputs)
    assert verdict_with(watched, shape)[1][0].reason == "shape [3, 12] against [16, 12] in eager"
    dtype = Outcome([eager.outputs[0].double()], eager.gradients, eager.inputs)
    assert verdict_with(watched, dtype)[1][0].reason == "dtype float64 against float32 in eager"
    raised = verdict_with(watched, Outcome(error=ValueError("no")))
    assert raised[1][0].reason == "only compiled code raises ValueError: no"
    strides = Outcome(
        [eager.outputs[0].t().contiguous().t()], eager.gradients, eager.inputs, None, (0,)
    )
    assert verdict_with(watched, strides)[0] == "agrees"
    assert remarks(eager, strides, names_in(watched)) == (
        "output 0 has strides (1, 16), in eager (12, 1)",
    )


def test_inputs_that_are_written_are_compared() -> None:
    def program(x):
        x.add_(1)
        return x * 2

    watched = watched_graph(program, torch.zeros(3))
    compiled = run(watched.gm, watched.calls[0])
    compiled.inputs[0].zero_()
    found, tensors = verdict_with(watched, compiled)
    assert found == "diverges"
    assert [(t.name, t.role) for t in tensors] == [
        ("argument `x` after the call", "input"),
        ("output 0", "output"),
    ]


def test_integers_are_exact_but_for_ties_that_rounding_decides() -> None:
    one = torch.tensor([1, 2, 3])
    assert not ExactCase(one, one + 1, one).within
    assert ExactCase(one, one + 1, one + 1).within
    case = ExactCase(one, one + 1, one)
    case.learn(one + 2)
    assert case.within
    flags = torch.tensor([True, False])
    assert not ExactCase(flags, ~flags, flags).within


def test_an_input_that_magnifies_rounding_is_called_sensitive() -> None:
    watched = watched_graph(
        lambda x: torch.linalg.cond(torch.arctan(x)), torch.ones(2, 2), backend="inductor"
    )
    call = watched.calls[0]
    eager = run(watched.gm, call)
    found = call_accuracy(
        watched, call, eager, Outcome([eager.outputs[0] * 4], eager.gradients, eager.inputs)
    )
    assert found.verdict == "rounding"
    assert "sensitive input" in found.reason


def test_close_means_what_assert_close_means() -> None:
    a = torch.tensor([1.0, math.nan, math.inf])
    assert close(a, a.clone(), 0.0, 0.0)
    assert not close(a, -a, 1e-3, 1e-3)
    assert close(a, torch.tensor([1.0001, math.nan, math.inf]), 1e-3, 0.0)


def test_a_float16_that_overflows_in_eager_too() -> None:
    truth = torch.tensor([1e5, 1e5, 1.0], dtype=torch.float64)
    eager = torch.tensor([math.inf, 65504.0, 1.0]).half()
    compiled = torch.tensor([65504.0, math.inf, 1.0]).half()
    assert FloatCase(eager, compiled, truth).lost == 0
    assert FloatCase(torch.tensor([65504.0, 65504.0, 1.0]).half(), compiled, truth).lost == 1


def cast_dropped(x, b):
    y = (x * 3.1).to(torch.bfloat16)
    z = (y * 1.5).to(torch.float32)
    return z + b


def ties(x):
    scaled = x / math.sqrt(7.0)
    hit = scaled == scaled.amax(dim=-1, keepdim=True)
    return hit.sum(-1), 1.0 / hit.sum(-1).float()


def test_a_cast_that_is_left_out_is_named() -> None:
    torch.manual_seed(0)
    watched = watched_graph(cast_dropped, torch.randn(8, 33), torch.randn(33), backend="inductor")
    call = watched.calls[0]
    found = call_accuracy(watched, call, run(watched.gm, call), run(watched.compiled, call))
    assert found.verdict == "precision_changed"
    assert found.casts[0].dtype == "bfloat16"
    assert found.casts[0].source.code == "y = (x * 3.1).to(torch.bfloat16)"
    assert len(found.tried) == 1


def test_a_result_kept_unrounded_is_named() -> None:
    torch.manual_seed(0)
    watched = watched_graph(ties, torch.randn(6, 64).bfloat16(), backend="inductor")
    call = watched.calls[0]
    found = call_accuracy(watched, call, run(watched.gm, call), run(watched.compiled, call))
    assert found.verdict == "precision_changed"
    assert [cast.source.code for cast in found.casts] == ["scaled = x / math.sqrt(7.0)"]


def test_a_fault_is_no_change_of_precision() -> None:
    torch.manual_seed(0)
    watched = watched_graph(cast_dropped, torch.randn(8, 33), torch.randn(33), backend="inductor")
    call = watched.calls[0]
    name = operators(watched)[0]
    wrong = with_fault(watched, name, lambda value: operator.mul(value, 2))
    watched.compile = lambda gm, inputs, overrides: lambda *args: wrong.outputs
    assert call_accuracy(watched, call, run(watched.gm, call), wrong).verdict == "diverges"
