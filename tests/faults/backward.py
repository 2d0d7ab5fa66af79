"""Faults in the backward pass: the value is right, and a gradient is wrong."""

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from faults.forward import SQUARE, normal
from faults.passes import (
    Fault,
    argument,
    constant,
    dropped,
    followed,
    item,
    nan_above,
    preceded,
    scaled,
    swapped,
)

aten = torch.ops.aten
BACKWARD: list[Fault] = []


def fault(edit, inputs, **more):
    """Adds the function below to the faults."""

    def add(function):
        BACKWARD.append(Fault(function.__name__, function, inputs, edit, part="backward", **more))
        return function

    return add


def several(*edits):
    """The first of them that fits."""
    return lambda node: any(edit(node) for edit in edits)


@fault(dropped(aten.where.self, 2), normal(SQUARE, SQUARE, grad=True))
def gradient_without_the_mask_of_relu(x, y):
    a = x * y
    b = a.relu()  # here
    return b.sum(0) + 1


@fault(dropped(aten.sub.Tensor, 1), normal(SQUARE, SQUARE, grad=True))
def dropped_term_of_the_gradient_of_tanh(x, y):
    a = x + y
    b = a.tanh()  # here
    return b * y


@fault(constant(aten.mul.Tensor, 3.0, 2.0), normal(SQUARE, grad=True))
def wrong_constant_in_a_gradient(x):
    a = x.sin()
    b = a * 3.0  # here
    return b.exp()


@fault(swapped(aten.sub.Tensor), normal(SQUARE, grad=True))
def swapped_subtraction_in_a_gradient(x):
    a = x * 2
    b = a.sigmoid()  # here
    return b + a


@fault(swapped(aten.mm.default), normal(SQUARE, SQUARE, grad=True))
def swapped_product_in_a_gradient(x, y):
    a = x.cos()
    b = a @ y  # here
    return b.relu()


@fault(
    argument(aten.sum.dim_IntList, 1, lambda _: [1]),
    lambda: (*normal(SQUARE)(), *normal(8, grad=True)()),
)
def wrong_axis_in_the_gradient_of_a_bias(x, b):
    a = x.exp()
    c = a + b  # here
    return c.tanh()


@fault(constant(aten.mul.Tensor, 8, 7), normal(SQUARE, 8, 8, grad=True))
def wrong_count_in_the_gradient_of_a_norm(x, w, b):
    a = x * 2
    c = functional.layer_norm(a, (8,), w, b)  # here
    return c.tanh()


@fault(argument(aten.sum.dim_IntList, 1, lambda _: [0]), normal(SQUARE, grad=True))
def wrong_axis_in_the_gradient_of_softmax(x):
    a = x * 2
    b = a.softmax(-1)  # here
    return b * a


@fault(constant(aten.ge.Scalar, 0, 1), lambda: (torch.arange(12) % 8, *normal(SQUARE, grad=True)()))
def lost_row_in_the_gradient_of_an_embedding(at, w):
    a = w * 2
    b = functional.embedding(at, a)  # here
    return b.sin()


@fault(constant(aten.mul.Tensor, -0.5, -0.25), normal(SQUARE, grad=True))
def wrong_constant_in_the_gradient_of_gelu(x):
    a = x + 1
    b = functional.gelu(a)  # here
    return b.sum(1)


@fault(dropped(aten.where.self, 1), normal(SQUARE, grad=True))
def gradient_without_the_mask_of_clamp(x):
    a = x * 2
    b = a.clamp(-1.0, 1.0)  # here
    return b + a


@fault(
    followed(aten.div.Tensor, nan_above(4.0)),
    lambda: (torch.linspace(0.01, 6, 512, requires_grad=True),),
)
def nan_in_a_gradient(x):
    a = x + 0.001
    b = a.sqrt()  # here
    return b * 3


@fault(
    several(constant(aten.mul.Scalar, -0.5, 0.5), constant(aten.mul.Tensor, -0.5, 0.5)),
    normal(SQUARE, grad=True),
)
def wrong_sign_in_the_gradient_of_rsqrt(x):
    a = x.exp()
    b = a.rsqrt()  # here
    return b * a


@fault(
    item(1, scaled(2.0)),
    lambda: (*normal((2, 3, 6, 6))(), *normal((4, 3, 3, 3), 4, grad=True)()),
)
def scaled_gradient_of_a_convolution(x, w, b):
    a = x.relu()
    c = functional.conv2d(a, w, b)  # here
    return c.relu()


@fault(
    followed(aten.expand.default, scaled(1.5)),
    normal(SQUARE, grad=True),
    stage="joint_custom_post_pass",
)
def scaled_gradient_of_a_sum(x):
    a = x.sin()
    b = a.sum(1)  # here
    return b * b


@fault(
    several(constant(aten.mul.Scalar, 3.0, 2.0), constant(aten.mul.Tensor, 3.0, 2.0)),
    normal(SQUARE, grad=True),
)
def wrong_factor_in_the_gradient_of_a_power(x):
    a = x.sin()
    b = a.pow(3)  # here
    return b + a


@fault(dropped(torch.ops.prims.rev.default), normal(SQUARE, grad=True))
def unreversed_gradient_of_cumsum(x):
    a = x.sin()
    b = a.cumsum(1)  # here
    return b * a


@fault(
    several(constant(aten.div.Scalar, 8, 7), constant(aten.mul.Tensor, 0.125, 0.25)),
    normal(SQUARE, grad=True),
)
def wrong_count_in_the_gradient_of_a_mean(x):
    a = x.exp()
    b = a.mean(1)  # here
    return b.log()


@fault(
    several(
        preceded(aten.scatter_add.default, 2, lambda add, n: add(aten.add.Tensor, n, 1)),
        preceded(aten.scatter.src, 2, lambda add, n: add(aten.add.Tensor, n, 1)),
    ),
    lambda: (torch.arange(16).reshape(8, 2) % 7, *normal(SQUARE, grad=True)()),
)
def off_by_one_gradient_of_a_gather(at, x):
    a = x.sin()
    b = a.gather(1, at)  # here
    return b.exp()


@fault(dropped(aten.neg.default), normal(SQUARE, SQUARE, dtype=torch.bfloat16, grad=True))
def lost_negation_in_a_gradient(x, y):
    a = x * y
    b = y - a  # here
    return b.sigmoid()


@fault(constant(aten.mul.Tensor, 0.125, 0.25), normal((8, 4), 4, 4, grad=True))
def wrong_count_in_the_gradient_of_a_batch_norm(x, w, b):
    a = x.sin()
    c = functional.batch_norm(a, None, None, w, b, training=True)  # here
    return c.relu()


class _Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x * x * 3.0  # here


@fault(constant(aten.mul.Tensor, 3.0, 2.0), normal(SQUARE, grad=True))
def wrong_constant_in_a_function_with_its_own_gradient(x):
    a = x.sin()
    b = _Cube.apply(a)  # here
    return b + a


def _checkpointed(x, w):
    a = x @ w
    b = a.sigmoid()  # here
    return b * x


@fault(swapped(aten.sub.Tensor), normal(SQUARE, SQUARE, grad=True))
def swapped_subtraction_in_the_gradient_of_a_checkpoint(x, w):
    a = x.sin()
    b = checkpoint(_checkpointed, a, w, use_reentrant=False)
    return b + a
