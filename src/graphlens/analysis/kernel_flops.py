"""Floating-point operations of ATen nodes, from their shapes.

Matrix products, convolutions and attention count as ``torch.utils.flop_counter`` counts them: a
multiplication and an addition are two operations, and adding a bias is not counted. A pointwise
operator is one operation for each element of its result, also where the hardware takes several
(``exp``, ``erf``). A reduction is one for each element it reads. Views and moves of data are none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from graphlens.analysis.operator_kinds import MOVES, POINTWISE, REDUCTIONS, VIEWS, operator_name
from graphlens.model import Node, Unavailable

Shape = tuple[int, ...]


class UnknownError(Exception):
    """Why there is no number."""


def flops_of(nodes: Iterable[Node], known: Mapping[str, Node]) -> int | Unavailable:
    """Operations of several nodes together; unavailable where one has no formula.

    Args:
        nodes: Whose operations are counted.
        known: All nodes of the graph, by name.
    """
    total = 0
    for node in nodes:
        name = operator_name(node)
        try:
            total += _node(name, node, known)
        except UnknownError as why:
            return Unavailable(str(why))
        except (ValueError, IndexError, TypeError):
            return Unavailable(f"the arguments of {name} have no known form")
    return total


def _node(name: str, node: Node, known: Mapping[str, Node]) -> int:
    if name in VIEWS or name in MOVES:
        return 0
    arguments = _Arguments(node, known)
    if name in POINTWISE:
        return sum(prod(_sizes(tensor.shape)) for tensor in node.tensors) or _none(name)
    if name in REDUCTIONS:
        return prod(arguments.shape(0))
    formula = _FORMULAS.get(name)
    return formula(arguments) if formula else _none(name)


def _none(name: str) -> int:
    raise UnknownError(f"there is no formula for {name}")


class _Arguments:
    """The arguments of a node, by place."""

    def __init__(self, node: Node, known: Mapping[str, Node]) -> None:
        self.node = node
        self.known = known

    def shape(self, place: int) -> Shape:
        """The shape of a tensor argument."""
        name = self.node.args[place]
        node = self.known.get(name)
        if node is None or node.tensor is None:
            raise UnknownError(f"the shape of {name} is not known")
        return _sizes(node.tensor.shape)

    def result(self) -> Shape:
        """The shape of the result."""
        if self.node.tensor is None:
            raise UnknownError(f"the shape of {self.node.name} is not known")
        return _sizes(self.node.tensor.shape)

    def flag(self, place: int) -> bool:
        """A truth value."""
        if self.node.args[place] not in ("True", "False"):
            raise ValueError(self.node.args[place])
        return self.node.args[place] == "True"


def _sizes(shape: Sequence[int | str]) -> Shape:
    for size in shape:
        if not isinstance(size, int):
            raise UnknownError(f"it depends on the size {size}")
    return tuple(int(size) for size in shape)


def _product(first: int) -> Callable[[_Arguments], int]:
    """``mm``, ``bmm``: 2 · all elements of the left matrix · columns of the right one."""
    return lambda of: 2 * prod(of.shape(first)) * of.shape(first + 1)[-1]


def _convolution(of: _Arguments) -> int:
    """``convolution(input, weight, bias, stride, padding, dilation, transposed, ...)``."""
    return _conv(of.shape(0), of.shape(1), of.result(), of.flag(6))


def _convolution_backward(of: _Arguments) -> int:
    """One convolution's work for the input's gradient, and one for the weight's, where wanted.

    ``convolution_backward(gradient, input, weight, bias_sizes, stride, padding, dilation,
    transposed, output_padding, groups, output_mask)``.
    """
    mask = [part.strip() for part in of.node.args[10].strip("[]() ").split(",")]
    if len(mask) != 3 or set(mask) - {"True", "False"}:
        raise ValueError(of.node.args[10])
    each = _conv(of.shape(1), of.shape(2), of.shape(0), of.flag(7))
    return each * (mask[:2].count("True"))


def _conv(given: Shape, weight: Shape, result: Shape, transposed: bool) -> int:
    """2 · batch · places the filter is put at · elements of all filters.

    A filter is put at each place of the result, or of the input where it is transposed; groups
    are in the weight's shape, whose second size is that of one group.
    """
    places = given[2:] if transposed else result[2:]
    return 2 * given[0] * prod(places) * prod(weight)


def _attention(first: int, products: Callable[[int, int, int, int], int]) -> Callable[..., int]:
    """Attention of query, key and value: products of matrices for each batch and head."""

    def count(of: _Arguments) -> int:
        *batch, queries, width = of.shape(first)
        keys, values = of.shape(first + 1)[-2], of.shape(first + 2)[-1]
        return 2 * prod(batch) * products(queries, keys, width, values)

    return count


def _index_put(of: _Arguments) -> int:
    """``index_put(input, indices, values, accumulate)``: an addition a value, or none."""
    adds = len(of.node.args) > 3 and of.flag(3)
    return prod(of.shape(2)) if adds else 0


def _max_pool(of: _Arguments) -> int:
    """``(input, kernel_size, ...)``: a comparison for each element of each window."""
    window = [int(size) for size in of.node.args[1].strip("[]() ").split(",")]
    if not of.node.tensors:
        raise UnknownError(f"the shape of {of.node.name} is not known")
    return prod(_sizes(of.node.tensors[0].shape)) * prod(window)


# Scores, and the weighted sum of values.
_FORWARD = _attention(0, lambda q, k, d, v: q * k * d + q * k * v)
# Scores anew; gradients of scores, values, queries and keys.
_BACKWARD = _attention(1, lambda q, k, d, v: q * k * (3 * d + 2 * v))

_FORMULAS: dict[str, Callable[[_Arguments], int]] = {
    "mm": _product(0),
    "bmm": _product(0),
    "addmm": _product(1),
    "baddbmm": _product(1),
    "convolution": _convolution,
    "cumsum": lambda of: prod(of.shape(0)),
    "scatter_add": lambda of: prod(of.shape(3)),
    "embedding_dense_backward": lambda of: prod(of.shape(0)),
    "index_put": _index_put,
    "_unsafe_masked_index_put_accumulate": lambda of: prod(of.shape(3)),
    "_unsafe_index_put": _index_put,
    "_low_memory_max_pool_with_offsets": _max_pool,
    "_low_memory_max_pool_offsets_to_indices": lambda of: prod(of.result()),
    "convolution_backward": _convolution_backward,
    "_scaled_dot_product_flash_attention_for_cpu": _FORWARD,
    "_scaled_dot_product_flash_attention": _FORWARD,
    "_scaled_dot_product_efficient_attention": _FORWARD,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _BACKWARD,
    "_scaled_dot_product_flash_attention_backward": _BACKWARD,
    "_scaled_dot_product_efficient_attention_backward": _BACKWARD,
    # The maximum, and the sum of exp(x - maximum).
    "prepare_softmax_online": lambda of: 4 * prod(of.shape(0)),
}
