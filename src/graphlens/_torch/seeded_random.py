"""Inductor's random operators as its Triton kernels compute them, from the same seeds and offsets.

In a lowered graph a random tensor is ``inductor_random(size, seed, "rand")``. Eager ignores the
seed; Triton's kernels draw from Philox 4x32-10 with the seed as key and an element's index as
counter (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Seen on torch
2.11, 2.13 and 2.14 with Triton 3.6, 3.7 and 3.8.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

_A, _B = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_A, _KEY_B = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
_ROUNDS = 10
_UNIT = 4.6566127342e-10  # of Triton: just below 2^-31, so that 1.0 is never drawn
_SMALLEST = 1.0e-7


def philox(seed: int, counters: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Four random 32-bit numbers for each counter.

    Args:
        seed: 64 bits; negative ones as two's complement.
        counters: Numbers below 2^32.
    """
    key = seed % (1 << 64)
    a, b = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    c = [counters.astype(np.uint64), *(np.zeros(counters.shape, np.uint64) for _ in range(3))]
    for _ in range(_ROUNDS):
        high, low = _A * c[0], _B * c[2]
        c = [(low >> _SHIFT) ^ c[1] ^ a, low & _LOW, (high >> _SHIFT) ^ c[3] ^ b, high & _LOW]
        a, b = (a + _KEY_A) & _LOW, (b + _KEY_B) & _LOW
    return c


def _uniform(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    signed = bits.astype(np.uint32).view(np.int32)
    folded = np.where(signed < 0, -signed - 1, signed)
    return (folded.astype(np.float32) * np.float32(_UNIT)).astype(np.float32)


def seeds(count: int, device: Any = None) -> torch.Tensor:
    """As Inductor's programs draw seeds: from the generator of the device, all 64 bits."""
    del device
    return torch.randint(-(2**63), 2**63 - 1, [count], dtype=torch.int64)


def lookup_seed(given: torch.Tensor, index: int) -> torch.Tensor:
    """One of the seeds."""
    return given[index].clone()


def random(size: Sequence[int], seed: torch.Tensor, mode: str, **_: Any) -> torch.Tensor:
    """Uniform (``rand``) or normal (``randn``) numbers in float32."""
    first, second, *_rest = philox(int(seed), np.arange(math.prod(size)))
    made = _uniform(first) if mode == "rand" else _normal(first, second)[0]
    return torch.from_numpy(made).reshape(tuple(size))


def random_by_four(size: Sequence[int], seed: torch.Tensor, mode: str, **_: Any) -> torch.Tensor:
    """As `random`, with a counter for four elements, each of which gets a word of the block."""
    count = math.prod(size)
    words = philox(int(seed), np.arange(-(-count // 4)))
    if mode == "rand":
        drawn = [_uniform(word) for word in words]
    else:
        drawn = [*_normal(words[0], words[1]), *_normal(words[2], words[3])]
    made = np.stack(drawn, axis=-1).reshape(-1)[:count]
    return torch.from_numpy(made.copy()).reshape(tuple(size))


def _normal(first: Any, second: Any) -> tuple[Any, Any]:
    """Two normal numbers from two words, by Box and Muller."""
    one = np.maximum(np.float32(_SMALLEST), _uniform(first))
    angle = np.float32(2 * math.pi) * _uniform(second)
    radius = np.sqrt(np.float32(-2.0) * np.log(one))
    return (radius * np.cos(angle)).astype(np.float32), (radius * np.sin(angle)).astype(np.float32)


def randint(low: int, high: int, size: Sequence[int], seed: torch.Tensor) -> torch.Tensor:
    """Whole numbers from ``low`` up to ``high``, which is not drawn."""
    first, second, *_ = philox(int(seed), np.arange(math.prod(size)))
    whole = first | (second << _SHIFT)
    made = (whole % np.uint64(high - low)).astype(np.int64) + low
    return torch.from_numpy(made).reshape(tuple(size))


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
