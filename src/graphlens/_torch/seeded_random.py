"""Inductor's random operators as its Triton kernels compute them, from the same seeds and offsets.

In a lowered graph a random tensor is ``inductor_random(size, seed, "rand")``. Eager ignores the
seed; Triton's kernels draw from Philox 4x32-10 with the seed as key and an element's index as
counter (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Seen on torch
2.11, 2.13 and 2.14 with Triton 3.6, 3.7 and 3.8.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

_FACTORS = 0xD2511F53, 0xCD9E8D57
_KEYS = 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF
_ROUNDS = 10
_UNIT = 4.6566127342e-10  # of Triton: just below 2^-31, so that 1.0 is never drawn
_SMALLEST = 1.0e-7


def philox(seed: int, count: int) -> list[Any]:
    """Four arrays of random 32-bit numbers, for the counters from 0 on.

    Args:
        seed: 64 bits; negative ones as two's complement.
        count: How many counters, below 2^32.
    """
    import numpy as np  # Triton's interpreter needs it, torch does not

    factor_a, factor_b = map(np.uint64, _FACTORS)
    step_a, step_b = map(np.uint64, _KEYS)
    low_bits, shift = np.uint64(_LOW), np.uint64(32)
    a, b = np.uint64(seed & _LOW), np.uint64((seed >> 32) & _LOW)
    c = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    for _ in range(_ROUNDS):
        high, low = factor_a * c[0], factor_b * c[2]
        c = [
            (low >> shift) ^ c[1] ^ a,
            low & low_bits,
            (high >> shift) ^ c[3] ^ b,
            high & low_bits,
        ]
        a, b = (a + step_a) & low_bits, (b + step_b) & low_bits
    return c


def _uniform(bits: Any) -> torch.Tensor:
    """As Triton makes 32 bits a number in [0, 1)."""
    signed = torch.from_numpy(bits.astype("uint32").view("int32"))
    folded = torch.where(signed < 0, -signed - 1, signed)
    return folded.to(torch.float32) * _UNIT


def seeds(count: int, device: Any = None) -> torch.Tensor:
    """As Inductor's programs draw seeds: from the generator of the device, all 64 bits."""
    del device
    return torch.randint(-(2**63), 2**63 - 1, [count], dtype=torch.int64)


def lookup_seed(given: torch.Tensor, index: int) -> torch.Tensor:
    """One of the seeds."""
    return given[index].clone()


def random(size: Sequence[int], seed: torch.Tensor, mode: str, **_: Any) -> torch.Tensor:
    """Uniform (``rand``) or normal (``randn``) numbers in float32."""
    first, second, *_rest = philox(int(seed), math.prod(size))
    with _as_eager():
        made = _uniform(first) if mode == "rand" else _normal(first, second)[0]
    return made.reshape(tuple(size))


def random_by_four(size: Sequence[int], seed: torch.Tensor, mode: str, **_: Any) -> torch.Tensor:
    """As `random`, with a counter for four elements, each of which gets a word of the block."""
    count = math.prod(size)
    words = philox(int(seed), -(-count // 4))
    with _as_eager():
        if mode == "rand":
            drawn = [_uniform(word) for word in words]
        else:
            drawn = [*_normal(words[0], words[1]), *_normal(words[2], words[3])]
        made = torch.stack(drawn, -1).reshape(-1)[:count]
    return made.reshape(tuple(size))


def _as_eager() -> AbstractContextManager[Any]:
    """A block in which a run in float64 draws what eager draws."""
    from torch.utils._python_dispatch import _disable_current_modes

    disabled: AbstractContextManager[Any] = _disable_current_modes()
    return disabled


def _normal(first: Any, second: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Two normal numbers from two words, by Box and Muller."""
    radius = torch.sqrt(-2.0 * torch.log(_uniform(first).clamp_min(_SMALLEST)))
    angle = 2 * math.pi * _uniform(second)
    return radius * torch.cos(angle), radius * torch.sin(angle)


def randint(low: int, high: int, size: Sequence[int], seed: torch.Tensor) -> torch.Tensor:
    """Whole numbers from ``low`` up to ``high``, which is not drawn."""
    first, second, *_ = philox(int(seed), math.prod(size))
    number = first.dtype.type  # 64 bits without sign, which a number of Python's is not
    whole = first | (second << number(32))
    with _as_eager():
        made = torch.from_numpy((whole % number(high - low)).astype("int64")) + low
    return made.reshape(tuple(size))


_OPERATORS = {
    "inductor_seeds": seeds,
    "inductor_lookup_seed": lookup_seed,
    "inductor_random": random,
    "inductor_randint": randint,
}


def with_seeds(gm: torch.fx.GraphModule, by_four: frozenset[str] = frozenset()) -> int:
    """Puts these functions in place of Inductor's operators in a graph.

    Args:
        gm: The graph, which is changed.
        by_four: Names of nodes that are drawn by four.

    Returns:
        How many random tensors the graph draws.
    """
    drawn = 0
    for node in gm.graph.nodes:
        name = getattr(node.target, "__name__", "").partition(".")[0]
        if node.op == "call_function" and name in _OPERATORS:
            node.target = random_by_four if node.name in by_four else _OPERATORS[name]
            drawn += name in ("inductor_random", "inductor_randint")
    if drawn:
        gm.recompile()
    return drawn
