"""The least time a kernel can take on a GPU: what it moves and computes, at the vendor's peaks.

The roofline model (Williams, Waterman, Patterson, "Roofline: an insightful visual performance
model", 2009), with the peaks of the data sheet. Real kernels take longer; launching one alone takes
some microseconds.
"""

from graphlens.model import Estimate, Kernel, Target, Unavailable

_SCALAR = "float32"


def estimate(kernel: Kernel, target: Target, tf32: bool = False) -> Estimate | Unavailable:
    """The estimate for a call of a kernel.

    Args:
        kernel: With its bytes and operations.
        target: The GPU.
        tf32: Whether matrix products of float32 may use tensor cores; torch's default is no.
    """
    if isinstance(kernel.read_bytes, Unavailable):
        return kernel.read_bytes
    if isinstance(kernel.written_bytes, Unavailable):
        return kernel.written_bytes
    if isinstance(kernel.flops, Unavailable):
        return kernel.flops
    unit = _unit(kernel, target, tf32)
    moved = kernel.read_bytes + kernel.written_bytes
    memory, compute = moved / target.bandwidth, kernel.flops / getattr(target.peaks, unit)
    bound = "memory" if memory >= compute else "compute"
    return Estimate(seconds=max(memory, compute), bound=bound, unit=unit)


def _unit(kernel: Kernel, target: Target, tf32: bool) -> str:
    """What computes: tensor cores for a library's matrix product, else the scalar units."""
    dtypes = {buffer.dtype for buffer in (*kernel.inputs, *kernel.outputs) if buffer.dtype}
    if "float64" in dtypes:
        return "float64"
    if kernel.language == "extern":
        wanted = [f"matrix_{dtype}" for dtype in ("float16", "bfloat16") if dtype in dtypes]
        wanted += ["matrix_tf32"] if tf32 and not wanted else []
        for unit in wanted:
            if getattr(target.peaks, unit):
                return unit
    return _SCALAR
