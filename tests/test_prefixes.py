"""Beginnings of graphs give in eager what the whole graph gives up to there."""

import pytest

pytestmark = pytest.mark.usefixtures("compiles")

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.checkpoint import checkpoint

from graphlens.checks.bodies import body_name, opened
from graphlens.checks.node_values import node_gradients, node_values
from graphlens.checks.prefixes import alone, operators, prefix, shown
from watched_graphs import watched_graph


def cuts(watched) -> list[str]:
    return [shown(node).name for node in operators(watched.gm)]


def beginnings(watched) -> dict[str, list[torch.Tensor]]:
    """What each beginning gives in eager, by its last node; each also leaves all modes."""
    found = {}
    for node in operators(watched.gm):
        part = prefix(watched.gm, node)
        part.graph.lint()
        with watched.calls[0].around.restored():
            grad = torch.is_grad_enabled()
            found[shown(node).name] = list(part(*watched.calls[0].fresh()))
            assert torch.is_grad_enabled() == grad
            assert not torch.is_autocast_enabled("cpu")
            assert not torch._C._functorch.maybe_current_level()
    return found


def test_outputs_are_what_the_rest_needs_and_the_last_value() -> None:
    def function(x, y):
        a = x.sin()
        b = a + y
        c = b * a
        return c.relu()

    watched = watched_graph(function, torch.randn(3), torch.randn(3))

    x, y = watched.calls[0].inputs
    found = beginnings(watched)
    assert list(found) == ["a", "b", "c", "relu"]
    assert [len(values) for values in found.values()] == [1, 2, 1, 1]
    assert torch.equal(found["b"][1], x.sin() + y)
    assert len(prefix(watched.gm, operators(watched.gm)[-1], everything=True)(x, y)) == 4


def test_writes_are_operators_and_can_be_seen() -> None:
    def function(x):
        y = x.sin()
        y[0] = 3.0
        y[1:].mul_(2)
        x.add_(1)
        return y

    watched = watched_graph(function, torch.ones(3))

    assert cuts(watched) == ["y", "setitem", "getitem", "mul_", "add_"]
    found = beginnings(watched)
    assert found["setitem"][0].tolist()[0] == 3.0
    assert torch.equal(found["add_"][-1], torch.full((3,), 2.0))


def test_memory_without_values_is_filled() -> None:
    def function(x):
        a, b, c = torch.empty(64), x.new_empty(64), torch.empty_like(x)
        for one in (a, b, c):
            one.copy_(x)
        return a + b + c

    watched = watched_graph(function, torch.ones(64))

    found = beginnings(watched)
    assert all(not values[0].count_nonzero() for values in list(found.values())[:1])
    assert watched.gm.graph.find_nodes(op="call_function", target=torch.empty), "left as it was"


def test_tuples_are_taken_apart() -> None:
    def function(x):
        values, at = torch.max(x, 1)
        first, second = x.split(2)
        return values + at, first * second

    watched = watched_graph(function, torch.randn(4, 4))

    first = next(iter(beginnings(watched).values()))
    assert [value.dtype for value in first] == [torch.float32, torch.int64]


def test_modes_are_left_in_the_middle() -> None:
    def function(x, y):
        a = x @ y
        with torch.autocast("cpu", torch.bfloat16):
            b = a @ y
            with torch.autocast("cpu", enabled=False):
                c = b.float() @ y
            d = c @ y
        with torch.no_grad():
            e = d * 2
            f = e.sin()
        return a + f

    watched = watched_graph(function, torch.randn(2, 2, requires_grad=True), torch.randn(2, 2))

    found = beginnings(watched)
    assert found["d"][-1].dtype == torch.bfloat16
    assert found["c"][-1].dtype == torch.float32
    assert not found["e"][-1].requires_grad
    assert found["e"][0].requires_grad


def test_values_under_vmap_come_with_their_dimension() -> None:
    def row(x, y):
        a = x.sin()
        b = torch.vmap(lambda one: one * y.sum())(a)
        return b + 1

    def function(x, y):
        return torch.vmap(row, in_dims=(0, None))(x, y) * 2

    watched = watched_graph(function, torch.randn(3, 4), torch.randn(5))

    x, y = watched.calls[0].inputs
    found = beginnings(watched)
    assert torch.equal(found["a"][-1], x.sin())
    assert any(torch.allclose(values[-1], x.sin() * y.sum()) for values in found.values())


def test_a_gradient_inside_is_one_operator() -> None:
    def function(x):
        a = x + 1
        b = torch.func.grad(lambda v: (v.sin() * 3).sum())(a)
        return b * 2

    watched = watched_graph(function, torch.randn(3))

    assert len(operators(watched.gm)) == 3
    x = watched.calls[0].inputs[0]
    second = list(beginnings(watched).values())[1]
    assert torch.allclose(second[0], (x + 1).cos() * 3)


def test_bodies_and_numbers_stay() -> None:
    def function(x, w):
        a = checkpoint(lambda v: (v @ w).sin(), x, use_reentrant=False)
        b = torch.cond(a.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (a,))
        return b.view(x.shape[0] // 2, -1) * x.shape[0]

    watched = watched_graph(
        function, torch.randn(4, 4), torch.randn(4, 4, requires_grad=True), dynamic=True
    )

    assert len(beginnings(watched)) == len(operators(watched.gm))


def test_the_last_operator_alone() -> None:
    def function(x, y):
        return (x.sin() + y).relu()

    watched = watched_graph(function, torch.randn(3), torch.randn(3, requires_grad=True))
    part = prefix(watched.gm, operators(watched.gm)[1])

    made, inputs = alone(part, node_values(part, watched.calls[0]))

    x, y = watched.calls[0].inputs
    assert torch.equal(made(*inputs)[0], x.sin() + y)
    assert [one.requires_grad for one in inputs] == [False, True]
    assert alone(made, {}) is None


def test_gradients_of_all_values() -> None:
    def function(x):
        a = x * 2
        first, second = a.split(2)
        return first * second

    watched = watched_graph(function, torch.ones(4, requires_grad=True), backward=True)

    found = node_gradients(watched.gm, watched.calls[0])
    assert torch.equal(found["a"], torch.full((4,), 2.0))
    assert [one.tolist() for one in found["split"]] == [[2.0, 2.0], [2.0, 2.0]]


def test_the_body_of_a_checkpoint_in_its_place() -> None:
    table = torch.arange(3.0)

    def inner(v, w):
        c = checkpoint(lambda u: u.cos() * table, v, use_reentrant=False)
        return (c @ w).sin(), c + 1

    def function(x, w):
        a = x + 1
        b, c = checkpoint(inner, a, w, use_reentrant=False)
        return b * c

    watched = watched_graph(function, torch.randn(3, 3), torch.randn(3, 3, requires_grad=True))
    node = next(one for one in operators(watched.gm) if one.name == "tag_activation_checkpoint")

    once = opened(watched.gm, node)
    again = opened(once, next(one for one in operators(once) if "checkpoint" in one.name))

    expected = watched.gm(*watched.calls[0].fresh())[0]
    for made in (once, again):
        made.graph.lint()
        assert torch.equal(made(*watched.calls[0].fresh())[0], expected)
    names = [body_name(one) for one in operators(again) if body_name(one)]
    assert {"sin", "cos"} <= set(names)
    assert not [one for one in operators(again) if "checkpoint" in one.name]
    assert opened(watched.gm, operators(watched.gm)[0]) is None
