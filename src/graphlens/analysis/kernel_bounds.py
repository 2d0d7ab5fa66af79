"""What bounds a kernel: its bytes and operations in a second, as shares of what the machine can do.

As in a roofline (S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009): what a kernel
is nearest to bounds it. The ceilings are measured, not from a data sheet: a copy of a large tensor,
and a product of large matrices in the kernel's dtype.
"""

from collections.abc import Iterable

from graphlens.model import Bound, Ceilings, Kernel, Unavailable

# Below this share of both ceilings, neither of them explains the time.
LEAST_SHARE = 0.4
# A kernel that takes less than so many empty calls is mostly call.
SHORTEST_CALLS = 5.0
_PRODUCTS = ("float32", "float64", "bfloat16", "float16")
_NO_TIME = Unavailable("it took no time that can be measured")


def bound_of(kernel: Kernel, ceilings: Ceilings | Unavailable) -> Bound | Unavailable:
    """What bounds a kernel that was timed."""
    if isinstance(kernel.seconds, Unavailable):
        return kernel.seconds
    if isinstance(ceilings, Unavailable):
        return ceilings
    seconds = kernel.seconds.median
    if seconds <= 0:
        return _NO_TIME
    of_copy = _share(moved_bytes(kernel), seconds, ceilings.copy.best)
    of_product = _share_of_product(kernel, seconds, ceilings)
    if isinstance(of_copy, Unavailable) and isinstance(of_product, Unavailable):
        return of_copy
    by = _by(seconds, of_copy, of_product, ceilings.call_seconds)
    moved = moved_bytes(kernel)
    if by == "memory" and not isinstance(moved, Unavailable) and moved <= ceilings.cache_bytes:
        by = "memory_or_cache"
    return Bound(by=by, of_copy=of_copy, of_product=of_product)


def moved_bytes(kernel: Kernel) -> int | Unavailable:
    """Bytes that a kernel reads and writes, each tensor once."""
    if isinstance(kernel.read_bytes, Unavailable):
        return kernel.read_bytes
    if isinstance(kernel.written_bytes, Unavailable):
        return kernel.written_bytes
    return kernel.read_bytes + kernel.written_bytes


def dtype_of(kernel: Kernel) -> str:
    """The dtype that a kernel computes in: of what it writes first, else reads; empty for none."""
    return next((one.dtype for one in (*kernel.outputs, *kernel.inputs) if one.dtype), "")


def _share(number: int | Unavailable, seconds: float, most: float) -> float | Unavailable:
    return number if isinstance(number, Unavailable) else number / seconds / most


def _share_of_product(kernel: Kernel, seconds: float, ceilings: Ceilings) -> float | Unavailable:
    dtype = dtype_of(kernel)
    for one in ceilings.products:
        if one.dtype == dtype:
            return _share(kernel.flops, seconds, one.speed.best)
    return Unavailable(f"no product of matrices was timed in {dtype or 'its dtype'}")


def _by(
    seconds: float, of_copy: float | Unavailable, of_product: float | Unavailable, call: float
) -> str:
    memory = 0.0 if isinstance(of_copy, Unavailable) else of_copy
    compute = 0.0 if isinstance(of_product, Unavailable) else of_product
    if compute >= LEAST_SHARE and (compute >= memory or memory > 1):
        return "compute"
    if memory > 1:
        return "cache"
    if seconds < SHORTEST_CALLS * call:
        return "call"
    return "memory" if memory >= LEAST_SHARE else "neither"


def product_dtypes(kernels: Iterable[Kernel]) -> tuple[str, ...]:
    """Dtypes that products of matrices must be timed in to judge these kernels."""
    known = {
        dtype_of(kernel)
        for kernel in kernels
        if not isinstance(kernel.flops, Unavailable) and kernel.flops
    }
    return tuple(dtype for dtype in _PRODUCTS if dtype in known)
