"""Families of operators: what kind of work an operator does, for colours and legends."""

import re

from graphlens.analysis.operators import operator_label
from graphlens.model import Node

MATRIX, POINTWISE, NORMALISATION, REDUCTION, VIEW, OTHER, MODULE, INPUT, OUTPUT = FAMILIES = (
    "matrix",
    "pointwise",
    "normalisation",
    "reduction",
    "view",
    "other",
    "module",
    "input",
    "output",
)

_MATRIX = re.compile(
    r"conv(?!ert)|linear|matmul|^(add|ba|badd)?b?mm$|^_?(scaled_|int_|grouped_)*mm$|addmv|^mv$|^dot$|einsum"
    r"|attention|bilinear|tensordot|^outer$|addr$|^lstm|^gru|^rnn"
)
_NORMALISATION = re.compile(r"norm(?!al_?$)|softmax|softmin")
_REDUCTION = re.compile(
    r"^(sum|mean|nan(sum|mean|median)|amax|amin|arg(max|min)|prod|any|all|std|var|std_mean|var_mean"
    r"|median|mode|max|min|logsumexp|count_nonzero|trace|cum\w+|logcumsumexp|nll_loss\w*|topk|sort|argsort)$"
    r"|pool|loss|cross_entropy"
)
_VIEW = re.compile(
    r"^(_?(unsafe_|reshape_)?view|view_as|view_copy|reshape|reshape_as|permute|transpose|swapaxes"
    r"|movedim|t|mt|expand|expand_as|squeeze|unsqueeze|flatten|unflatten|ravel|getitem|setitem|cat"
    r"|concat|stack|[hvd]stack|split|split_with_sizes|chunk|unbind|slice|slice_scatter|select"
    r"|select_scatter|index|index_select|index_put|gather|scatter|scatter_add|take|narrow|alias"
    r"|as_strided|contiguous|clone|detach|copy|repeat|repeat_interleave|tile|roll|flip|pad"
    r"|constant_pad_nd|diagonal|diag|tril|triu|unfold|embedding|broadcast_to|broadcast_tensors"
    r"|lift_fresh_copy|numel|size|getattr|pixel_(un)?shuffle|channel_shuffle)$"
)
_POINTWISE = re.compile(
    r"^(i?(add|sub|mul|truediv|floordiv|mod|and|or|xor|pow)|div|rsub|true_divide|floor_divide"
    r"|remainder|fmod|pow|neg|pos|abs|sign|sqrt|rsqrt|square|reciprocal|exp\w?|expm1|log\d*|log1p"
    r"|a?(sin|cos|tan)h?|arc\w+|atan2|erf\w*|sigmoid|logit|hard\w+|relu\d?|leaky_relu|p?relu|elu"
    r"|celu|selu|gelu|silu|mish|softplus|softsign|tanhshrink|threshold\w*|glu|logsigmoid"
    r"|dropout\w*|native_dropout|alpha_dropout|where|masked_fill|clamp\w*|clip|maximum|minimum"
    r"|fmax|fmin|eq|ne|lt|le|gt|ge|not|is(nan|inf|finite)|logical_\w+|bitwise_\w+|lerp|addc(mul|div)"
    r"|round|floor|ceil|trunc|frac|to|type|type_as|float|half|bfloat16|double|int|long|bool|_to_copy"
    r"|convert_element_type|nan_to_num|heaviside|invert|lshift|rshift|activation|identity)$"
)
_PREFIX = re.compile(r"^(Tensor\.|F\.|aten\.|prims\.|quantized\.|nn\.functional\.)")
_SUFFIX = re.compile(r"(_backward(_data)?|_?\d+d)$")
_ORDER = (
    (NORMALISATION, _NORMALISATION),
    (MATRIX, _MATRIX),
    (VIEW, _VIEW),
    (POINTWISE, _POINTWISE),
    (REDUCTION, _REDUCTION),
)


def operator_family(node: Node) -> str:
    """The family of a node: one of FAMILIES."""
    if node.op == "placeholder":
        return INPUT
    if node.op == "output":
        return OUTPUT
    return label_family(operator_label(node)) if node.is_operator else OTHER


def label_family(label: str) -> str:
    """The family of an operator, by the label people know it by."""
    name = _PREFIX.sub("", label).rpartition(".")[2].lower().rstrip("_")
    if name.startswith(("native_", "_native")):
        name = name.partition("native_")[2]
    while _SUFFIX.search(name):
        name = _SUFFIX.sub("", name).rstrip("_")
    for family, pattern in _ORDER:
        if pattern.search(name):
            return family
    return OTHER
