"""What kind of work an ATen operator is, by its name: a view, arithmetic, moving of data, ...

The lists are of names as they stand in lowered graphs of torch 2.14. A name in none of
them is of no known kind, and nothing is said of it.
"""

from graphlens.analysis.operators import operator_label
from graphlens.model import Node


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VIEWS = _names(
    """alias as_strided broadcast_in_dim chunk conj detach diagonal expand expand_as flatten
    getitem imag lift_fresh lift_fresh_copy mT movedim narrow numpy_T permute real reshape select
    slice split split_dim split_with_sizes squeeze squeeze_dims swapaxes t transpose unbind
    unflatten unfold unsqueeze view view_as view_as_complex view_as_real view_of _conj
    _reshape_alias _unsafe_view _neg_view"""
)
# Of these a kernel reads places that depend on data.
BY_INDEX = _names(
    """embedding gather index index_select _unsafe_index _unsafe_masked_index take take_along_dim
    upsample_nearest1d upsample_nearest2d upsample_nearest3d"""
)
# Of these a kernel reads, or writes, a part of a tensor that it is given whole.
PARTS = _names("as_strided diagonal select slice narrow unfold")
PART_WRITES = _names(
    """select_scatter slice_scatter diagonal_scatter index_put index_put_ scatter scatter_add
    scatter_reduce index_add index_copy index_fill _unsafe_index_put as_strided_scatter
    _unsafe_masked_index_put_accumulate masked_scatter"""
)
# Written where they are used, without a kernel of their own.
CONSTANTS = _names(
    """arange empty empty_like empty_strided full full_like iota new_empty new_full new_ones
    new_zeros ones ones_like scalar_tensor zeros zeros_like"""
)
MOVES = CONSTANTS | _names(
    """_to_copy bernoulli_ cat clone constant_pad_nd contiguous convert_element_type copy copy_
    device_put embedding fill fill_ flip gather index index_select inductor_lookup_seed
    inductor_random inductor_randint inductor_seeds repeat roll select_scatter slice_scatter
    diagonal_scatter stack tril triu _unsafe_index _unsafe_masked_index constant_pad
    inductor_force_stride_order scatter"""
)
POINTWISE = _names(
    """abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and bitwise_left_shift
    bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min copysign
    cos cosh digamma div elu eq erf erfc erfinv exp exp2 expm1 floor floor_divide fma fmax fmin fmod
    frexp ge gelu gt hardsigmoid hardswish hardtanh hypot isinf isnan isfinite le leaky_relu lerp
    lgamma log log10 log1p log2 log_sigmoid logical_and logical_not logical_or logical_xor
    lt masked_fill maximum minimum mish mul ne neg nextafter pow reciprocal relu relu6 remainder
    round rsqrt rsub sgn sigmoid sign signbit silu sin sinh softplus special_i0 sqrt square sub tan
    tanh threshold_backward trunc where xlogy gelu_backward sigmoid_backward tanh_backward
    silu_backward"""
)
REDUCTIONS = _names("""all amax amin any argmax argmin max mean min prod sum std var var_mean""")


def operator_name(node: Node) -> str:
    """The name without namespace and overload: ``torch.ops.aten.add.Tensor`` is ``add``."""
    return base_name(node.target) if node.target.startswith("torch.ops.") else operator_label(node)


def base_name(target: str) -> str:
    """The same of a target or of a call in a generated program.

    ``extern_kernels.addmm`` is ``addmm``, ``aten.randint.low_out`` and
    ``torch.ops.aten.randint.low_out`` are ``randint``.
    """
    parts = target.removeprefix("torch.ops.").split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def is_view(node: Node) -> bool:
    """Whether a node only looks at a value in another way, or takes a part of it."""
    return operator_name(node) in VIEWS
