"""How much memory a value takes."""

import re
from math import prod

from graphlens.model import TensorSpec

_BITS = re.compile(r"^(?:b?float|u?int|complex)(\d+)")


def tensor_bytes(spec: TensorSpec) -> int | None:
    """Bytes of a tensor's elements; None where a size is symbolic or the dtype has no width."""
    sizes = [size for size in spec.shape if isinstance(size, int)]
    bits = 8 if spec.dtype == "bool" else int(found[1]) if (found := _BITS.match(spec.dtype)) else 0
    if len(sizes) < len(spec.shape) or not bits:
        return None
    return prod(sizes) * bits // 8
