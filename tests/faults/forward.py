"""Faults in the forward pass of small programs of several dtypes."""

import torch
from torch.nn import functional

from faults.passes import (
    Fault,
    argument,
    constant,
    dropped,
    followed,
    keyword,
    nan_above,
    other,
    preceded,
    swapped,
)

aten = torch.ops.aten
FORWARD: list[Fault] = []


def normal(*shapes, dtype=torch.float32, grad=False):
    """Makes tensors of these shapes, each time the same."""

    def make():
        generator = torch.Generator().manual_seed(1)
        return tuple(
            torch.randn(shape, generator=generator).to(dtype).requires_grad_(grad)
            for shape in shapes
        )

    return make


def fault(edit, inputs, name="", **more):
    """Adds the function below to the faults."""

    def add(function):
        FORWARD.append(Fault(name or function.__name__, function, inputs, edit, **more))
        return function

    return add


SQUARE = (8, 8)


@fault(constant(aten.mul.Tensor, 2.0, 2.5), normal(SQUARE, SQUARE))
def wrong_constant(x, w):
    a = torch.sin(x) + 1
    b = a * 2.0  # here
    return torch.relu(b @ w) + b


@fault(swapped(aten.sub.Tensor), normal(SQUARE, SQUARE, dtype=torch.float64))
def swapped_subtraction(x, y):
    a = x.exp()
    b = a - y  # here
    return b.sigmoid() * a


@fault(swapped(aten.div.Tensor), normal(SQUARE, SQUARE, dtype=torch.bfloat16))
def swapped_division(x, y):
    a, b = x.exp() + 1, y.exp() + 1
    c = a / b  # here
    return c + a - b


@fault(swapped(aten.mm.default), normal(SQUARE, SQUARE, grad=True))
def swapped_product(x, y):
    a = torch.tanh(x)
    b = a @ y  # here
    return b.relu() + 1


@fault(dropped(aten.add.Tensor), normal(SQUARE, SQUARE, dtype=torch.float16))
def dropped_term(x, y):
    a = x.tanh()
    b = a + y  # here
    return (b * b).mean(0)


def _lost_cast(node):
    if node.target is not torch.ops.prims.convert_element_type.default:
        return False
    if node.args[1] is not torch.int32:
        return False
    node.replace_all_uses_with(node.args[0])
    return True


@fault(_lost_cast, normal(SQUARE))
def lost_cast(x):
    a = x * 3.7
    b = a.to(torch.int32)  # here
    return b.float() * 0.5 + a


@fault(argument(aten.sum.dim_IntList, 1, lambda _: [0]), normal(SQUARE))
def wrong_axis(x):
    a = x * x
    b = a.sum(1)  # here
    return b.sqrt() - a[0]


def _next_slice(node):
    if node.target is not aten.slice.Tensor or node.args[1] != 1:
        return False
    node.args = (*node.args[:2], node.args[2] + 1, node.args[3] + 1)
    return True


@fault(_next_slice, normal(SQUARE))
def off_by_one_slice(x):
    a = x.cos()
    b = a[:, 1:5]  # here
    return b.softmax(-1) + 1


@fault(dropped(aten.where.self, 2), lambda: (*normal(SQUARE)(), torch.ones(8, 8).tril() == 0))
def missing_mask(x, mask):
    a = x * 0.3
    b = a.masked_fill(mask, -1e4)  # here
    return b.softmax(-1)


@fault(followed(aten.exp.default, nan_above(15.0)), lambda: (torch.linspace(-3, 3, 4096),))
def nan_on_a_rare_value(x):
    a = x - 0.1
    b = a.exp()  # here
    return b / (1 + b)


@fault(constant(aten.add.Tensor, 1e-5, 1e-3), normal(SQUARE, 8, 8))
def wrong_epsilon(x, w, b):
    a = x * 0.1
    c = functional.layer_norm(a, (8,), w, b)  # here
    return c.tanh()


def _wrong_scale(node):
    if "scaled_dot_product" not in str(node.target):
        return False
    node.kwargs = {**node.kwargs, "scale": 0.4}
    return True


@fault(_wrong_scale, normal((1, 2, 6, 16), (1, 2, 6, 16), (1, 2, 6, 16)))
def wrong_scale_in_attention(q, k, v):
    a = q * 2
    b = functional.scaled_dot_product_attention(a, k, v)  # here
    return b.transpose(1, 2).flatten(2) + 1


@fault(dropped(aten.neg.default), normal(SQUARE))
def lost_negation(x):
    a = x.sigmoid()
    b = -a  # here
    return b.exp() + a


@fault(other(aten.minimum.default, aten.maximum.default), normal(SQUARE, SQUARE))
def max_for_min(x, y):
    a = x.abs()
    b = torch.minimum(a, y)  # here
    return b + a


@fault(argument(aten.constant_pad_nd.default, 1, lambda _: [0, 2]), normal(SQUARE))
def wrong_padding(x):
    a = x + 1
    b = functional.pad(a, (1, 1))  # here
    return b.cumsum(-1) * 2


@fault(argument(aten.convolution.default, 2, lambda _: None), normal((2, 3, 8, 8), (4, 3, 3, 3), 4))
def dropped_bias_of_a_convolution(x, w, b):
    a = x.relu()
    c = functional.conv2d(a, w, b, padding=1)  # here
    return functional.max_pool2d(c, 2)


@fault(dropped(aten.permute.default), normal(SQUARE, SQUARE, 8))
def transposed_weight(x, w, b):
    a = x.tanh()
    c = functional.linear(a, w, b)  # here
    return c.relu() + a


@fault(
    other(aten.addmm.default, aten.mm.default, lambda _, a, b: (a, b)), normal(SQUARE, SQUARE, 8)
)  # fmt: skip
def dropped_bias(x, w, b):
    a = x.tanh()
    c = functional.linear(a, w, b)  # here
    return c.relu() + a


@fault(other(functional.gelu, functional.relu), normal(SQUARE), stage="pre_grad_custom_pass")
def relu_for_gelu(x):
    a = x * 1.5
    b = functional.gelu(a)  # here
    return b.sum(-1) + a


@fault(constant(aten.clamp_max.default, 1.0, 0.9), normal(SQUARE))
def wrong_bound_of_a_clamp(x):
    a = x * 2
    b = a.clamp(-1.0, 1.0)  # here
    return b.tan() + a


@fault(
    preceded(aten.gather.default, 2, lambda add, node: add(aten.add.Tensor, node, 1)),
    lambda: (*normal(SQUARE)(), torch.arange(16).reshape(8, 2) % 7),
)
def off_by_one_gather(x, at):
    a = x.cos()
    b = a.gather(1, at)  # here
    return b.exp() + 1


def _exclusive(add, node):
    return add(aten.sub.Tensor, node, node.args[0])


@fault(followed(aten.cumsum.default, _exclusive), normal(SQUARE))
def exclusive_cumsum(x):
    a = x.abs()
    b = a.cumsum(1)  # here
    return b.log1p() * a


@fault(other(aten.argmax.default, aten.argmin.default), normal(SQUARE))
def argmin_for_argmax(x):
    a = x.sin()
    b = a.argmax(-1)  # here
    return b + 1, a * 2


def _whole_numbers():
    return torch.arange(64).reshape(8, 8) % 5, torch.arange(64).reshape(8, 8) % 3


@fault(other(aten.gt.Tensor, aten.ge.Tensor), _whole_numbers)
def greater_or_equal_for_greater(x, y):
    a = x + 1
    b = a > y  # here
    return b & (x < 3), a


def _other_softmax(node):
    if node.target is not functional.softmax:
        return False
    node.kwargs = {**node.kwargs, "dim": 0}
    return True


@fault(_other_softmax, normal(SQUARE), stage="pre_grad_custom_pass")
def softmax_over_another_axis(x):
    a = x * 3
    b = functional.softmax(a, dim=1)  # here
    return b @ a


@fault(keyword(aten.var.correction, correction=0), normal(SQUARE))
def biased_variance(x):
    a = x + 2
    b = a.var(-1)  # here
    return b.sqrt() + 1


@fault(other(aten.sigmoid.default, aten.tanh.default), normal(SQUARE, dtype=torch.bfloat16))
def tanh_for_sigmoid(x):
    a = x * 0.7
    b = a.sigmoid()  # here
    return b * a


@fault(
    other(aten.scatter_add.default, aten.scatter.src),
    lambda: (*normal(SQUARE)(), torch.zeros(8, 8, dtype=torch.int64)),
)
def scatter_that_does_not_add(x, at):
    a = x.exp()
    b = torch.zeros(8, 8).scatter_add(0, at, a)  # here
    return b + a


def _smallest(x, k, *_):
    return x, k, -1, False


@fault(other(aten.topk.default, aten.topk.default, _smallest), normal(SQUARE))
def smallest_for_largest(x):
    a = x.sin()
    values, at = torch.topk(a, 3)  # here
    return values * 2, at + 1


@fault(argument(aten.cat.default, 0, lambda parts: parts[::-1]), normal(SQUARE, SQUARE))
def cat_in_another_order(x, y):
    a, b = x.exp(), y.exp()
    c = torch.cat([a, b], 1)  # here
    return c.mean(0) + 1


def _without_padding(x, *_):
    return x, [2, 2], [2, 2], [1, 1], False, False


@fault(
    other(aten.avg_pool2d.default, aten.avg_pool2d.default, _without_padding),
    normal((1, 2, 8, 8)),
)
def pool_that_leaves_out_padding(x):
    a = x.abs()
    b = functional.avg_pool2d(a, 2, padding=1)  # here
    return b + 1


@fault(constant(aten.mul.Tensor, 0.1, 0.2), normal((8, 4), 4, 4))
def wrong_momentum_of_a_buffer(x, w, b):
    mean, var = torch.zeros(4), torch.ones(4)
    a = x * 2
    c = functional.batch_norm(a, mean, var, w, b, training=True)  # here
    return c.relu(), mean * 2, var


@fault(constant(aten.add.Tensor, 1.0, 1.5), normal(SQUARE))
def wrong_constant_in_place(x):
    a = x.sin()
    a.mul_(2.0)
    x.add_(1.0)  # here
    a[0].zero_()
    return a + x


@fault(argument(aten.full.default, 1, lambda _: 2.0), normal(SQUARE))
def wrong_value_written_to_a_row(x):
    a = x * 2
    a[0] = 3.0  # here
    b = a.exp()
    return b.sum(1)


@fault(keyword(aten.div.Tensor_mode, rounding_mode="trunc"), lambda: (torch.arange(-8, 8),))
def truncated_for_floored(x):
    a = x + 1
    b = torch.div(a, 3, rounding_mode="floor")  # here
    return b * 2


def _flip(node):
    if node.target not in (torch.ops.prims.rev.default, aten.flip.default):
        return False
    node.update_arg(1, [1])
    return True


@fault(_flip, lambda: (torch.arange(64).reshape(8, 8),))
def flip_of_another_axis(x):
    a = x * 2
    b = a.flip(0)  # here
    return b + 1


@fault(swapped(aten.mm.default), normal(SQUARE, SQUARE))
def swapped_product_in_autocast(x, y):
    a = x.tanh()
    with torch.autocast("cpu", torch.bfloat16):
        b = a @ y  # here
        c = b @ y
    return c.float() + a


@fault(dropped(aten.mul.Tensor), normal(SQUARE, SQUARE, grad=True))
def dropped_factor_without_gradients(x, y):
    a = x.tanh()
    with torch.no_grad():
        b = a * y  # here
        c = b.exp()
    return a * c


def _inner(x):
    a = x.sin()
    return a * 3.0  # here


@fault(constant(aten.mul.Tensor, 3.0, 2.0), normal(SQUARE))
def wrong_constant_under_vmap(x):
    a = x + 1
    b = torch.vmap(_inner)(a)
    return b.relu() * 2
