"""What a comparison has to say of the cases that disagree, from the notes in them, by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Explanation:
    """One case.

    Attributes:
        verdict: As ``Accuracy.verdict``.
        origin: As ``Accuracy.origin``.
        words: All to be said in the reason, in settings that were tried and help, or where the
            first divergence is.
        more: Further words by torch version, such as ``2.13``.
    """

    verdict: str
    origin: str
    words: tuple[str, ...]
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


EXPLAINED = {
    "autocast_bf16_block": Explanation("rounding", "inductor", ("off from the reference", "eager")),
    "autograd_function_twice": Explanation("diverges", "capture", ("as Dynamo captured it",)),
    "bf16_cast_dropped": Explanation(
        "precision_changed",
        "inductor",
        ("bfloat16", "line 12"),
        {
            "2.13": ("torch._inductor.config.emulate_precision_casts = True does not help",),
            "2.14": ("torch._inductor.config.emulate_precision_casts = True helps",),
        },
    ),
    "bf16_tie_count": Explanation(
        "precision_changed",
        "inductor",
        ("bfloat16", "line 13"),
        {
            "2.11": ("torch._inductor.config.emulate_precision_casts = True does not help",),
            "2.13": ("torch._inductor.config.emulate_precision_casts = True helps",),
            "2.14": ("torch._inductor.config.emulate_precision_casts = True helps",),
        },
    ),
    "double_backward": Explanation(
        "diverges",
        "autograd",
        (
            "does not currently support double backward",
            "torch._dynamo.config.trace_autograd_ops = True helps",
        ),
    ),
    "dropout_alias_write": Explanation(
        "diverges", "autograd", ("argument 0 after the call", "at line 13")
    ),
    "dropout_mask_differs": Explanation(
        "not_comparable",
        "inductor",
        ("random numbers", "line 18", "torch._inductor.config.fallback_random = True helps"),
    ),
    "except_index_error": Explanation(
        "diverges", "capture", ("line 13 raises IndexError", "except at line 14", "not reached")
    ),
    "func_grad_custom_backward": Explanation(
        "diverges", "capture", ("drops the backward", "autograd.Function RoundST")
    ),
    "hook_added_late": Explanation(
        "diverges",
        "capture",
        (
            "hook",
            "is not called",
            "torch._dynamo.config.skip_nnmodule_hook_guards = False helps",
        ),
    ),
    "identity_of_objects": Explanation(
        "diverges",
        "capture",
        (),
        # Torch 2.11 cannot compile a call by itself.
        {
            "2.11": ("as Dynamo captured it",),
            "2.13": ("a guard is missing",),
            "2.14": ("a guard is missing",),
        },
    ),
    "ill_conditioned": Explanation("rounding", "inductor", ("sensitive input",)),
    "inputs_become_aliases": Explanation(
        "diverges", "autograd", ("a guard is missing", "inputs that share memory")
    ),
    "linear_wrong_dtype": Explanation(
        "diverges", "inductor", ("only eager raises RuntimeError", "same dtype")
    ),
    "lru_cache_helper": Explanation(
        "diverges", "capture", ("functools.lru_cache", "`table`", "at every call")
    ),
    "nested_built_inside": Explanation(
        "diverges", "capture", ("IndexError", "while it makes the guards")
    ),
    "numpy_random_inside": Explanation(
        "not_comparable", "capture", ("NumPy", "seed has no effect")
    ),
    "scalar_cumsum": Explanation(
        "diverges", "inductor", ("InductorError", "tuple index out of range", "at line 11")
    ),
    "uint8_negation": Explanation("diverges", "inductor", ("at line 12",)),
}
"""By the case's name; all others agree."""
