"""Operators with bodies show them: captured by Dynamo, drawn beneath the graph."""

import pytest

pytestmark = pytest.mark.usefixtures("compiles")

torch = pytest.importorskip("torch", reason="torch is not installed")

import graphlens
from graphlens.analysis.diagram import diagrams


def conditional(x):
    return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos() * 2, (x,))


def loop(x):
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v.sin()), (torch.tensor(0), x))


def checkpointed(x):
    from torch.utils.checkpoint import checkpoint

    return checkpoint(lambda v: (v @ v).relu(), x, use_reentrant=False) + 1


def attention(x):
    from torch.nn.attention.flex_attention import flex_attention

    q = x.reshape(1, 1, 16, 16)
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score * 0.5 + i)


@pytest.mark.parametrize(
    ("function", "operator", "bodies"),
    [
        (conditional, "cond", [["Tensor.sin"], ["Tensor.cos", "mul"]]),
        (loop, "while_loop", [["lt"], ["add", "Tensor.sin"]]),
        (checkpointed, "tag_activation_checkpoint", [["matmul", "Tensor.relu"]]),
        (attention, "flex_attention", [["mul", "add"], ["Tensor.new_ones"]]),
    ],
)
def test_bodies_are_drawn(function, operator, bodies):
    x = torch.ones(16, 16, requires_grad=function is checkpointed)
    with graphlens.record() as recorded:
        torch.compile(function, backend="graphlens_eager", fullgraph=True)(x)
    graph = next(one for one in recorded.report().graphs if one.stage == "dynamo")

    whole, *inside = diagrams(graph)

    (box,) = (box for box in whole.boxes if box.label == operator)
    (row,) = (row.text for row in box.rows if row.text.startswith("body"))
    names = row.removeprefix("body ").split(", ")
    assert [f"body {name}" in part.title for name, part in zip(names, inside, strict=True)]
    found = [[box.label for box in part.boxes if box.operators] for part in inside]
    assert found == bodies
    text = graph.table()
    assert all(name in text for name in names)
