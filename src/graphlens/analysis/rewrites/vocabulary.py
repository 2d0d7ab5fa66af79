"""What methods and functions are known to do, by name."""


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# One result for each element, the same shape, and a tensor of its own.
ELEMENTWISE = words(
    "abs absolute neg negative square exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal "
    "sin cos tan asin acos atan sinh cosh tanh sigmoid relu sign floor ceil round trunc erf "
    "logical_not isnan isinf isfinite softplus silu gelu mish relu6 selu elu celu leaky_relu "
    "hardtanh hardswish logsigmoid"
)
# A second tensor or number with it.
PAIRWISE = words(
    "add sub subtract mul multiply div divide true_divide pow maximum minimum fmod remainder "
    "eq ne lt le gt ge logical_and logical_or logical_xor atan2 hypot where"
)
# One number from all elements when called without arguments.
REDUCTIONS = words(
    "sum mean max min amax amin any all norm std var prod median argmax argmin "
    "count_nonzero nansum nanmean logsumexp"
)
# A tensor with elements of the same storage, or maybe the tensor itself.
VIEWS = words(
    "view reshape flatten unflatten transpose permute squeeze unsqueeze expand detach chunk split "
    "select narrow contiguous to float double half bfloat16 int long bool type_as t swapaxes "
    "movedim unbind cpu cuda"
)
TENSOR_METHODS = (
    ELEMENTWISE
    | PAIRWISE
    | REDUCTIONS
    | (VIEWS - {"split", "select", "t", "int", "float", "bool", "to"})
    | words("clone softmax log_softmax matmul mm bmm cumsum cumprod clamp clip topk")
) - {"round"}
COMPARISONS = words("eq ne lt le gt ge")
# Their result is of type bool.
BOOLEAN = COMPARISONS | words(
    "any all isnan isinf isfinite logical_and logical_or logical_xor logical_not bool"
)
# Their result is a whole number, whatever they are given.
WHOLE = words("argmax argmin count_nonzero")
FACTORIES = words(
    "zeros ones full empty zeros_like ones_like full_like empty_like arange linspace eye tensor "
    "stack cat concat"
)
# Modules of torch.nn whose result is a tensor of its own.
FRESH_MODULES = words(
    "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d Embedding LayerNorm "
    "RMSNorm GroupNorm GELU SiLU Tanh Sigmoid Softmax"
)

EFFECT_FUNCTIONS = words(
    "print pprint pp input open exec eval setattr delattr next exit quit breakpoint vars __import__"
)
# Of containers, files and loggers; names that tensors have too are left out.
EFFECT_METHODS = words(
    "append appendleft extend extendleft insert pop popitem popleft remove clear update setdefault "
    "write writelines flush send put sort reverse backward step zero_grad warn warning info debug "
    "error critical exception set_trace add_scalar add_scalars add_histogram manual_seed seed "
    "register_buffer register_parameter"
)
# They stop the compiler themselves, so that nothing would be won.
CONVERSIONS = words("item tolist numpy is_nonzero")
# Another draw for each call: both sides computed would shift the random numbers of the program.
RANDOM = words(
    "rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal "
    "poisson dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout "
    "gumbel_softmax rrelu random shuffle choice sample rsample uniform gauss"
)
# Where they are inf or NaN on the side not chosen, so is the gradient.
UNBOUNDED = words(
    "log log2 log10 log1p sqrt rsqrt reciprocal pow div divide true_divide exp exp2 expm1 norm std "
    "acos asin atan2 fmod remainder"
)
LOG_METHODS = words(
    "debug info warning warn error critical exception log fatal debug_once info_once warning_once "
    "warning_advice"
)
