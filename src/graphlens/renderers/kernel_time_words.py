"""The time of a kernel and what bounds it, in words."""

from graphlens.model import Bound, Graph, Kernel, KernelTimes, Unavailable
from graphlens.renderers.measures import duration_with_interval, percent, ratio, significant

_UNLESS = ", unless its data was in the cache"
_SPEEDS = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def bound_text(bound: Bound) -> str:
    """What bounds a kernel: ``memory-bound at 62 % of copy speed``."""
    copy, product = _share(bound.of_copy), _share(bound.of_product)
    if bound.by == "memory":
        return f"memory-bound at {copy} of copy speed"
    if bound.by == "memory_or_cache":
        return f"memory-bound at {copy} of copy speed{_UNLESS}"
    if bound.by == "compute":
        return f"compute-bound at {product} of matrix-product speed"
    if bound.by == "cache" and not isinstance(bound.of_copy, Unavailable):
        return f"data from the cache, at {ratio(bound.of_copy)} copy speed"
    if bound.by == "call":
        return "too short, mostly its call"
    known = [f"{what} {share}" for what, share in (("copy", copy), ("product", product)) if share]
    return f"neither bound ({', '.join(known)})" if known else "neither bound"


def brief(bound: str) -> str:
    """The same where there is little room: ``memory-bound at 62 %``."""
    if bound.endswith(_UNLESS):
        return f"{brief(bound.removesuffix(_UNLESS))}, or cache"
    return bound.removesuffix(" of copy speed").removesuffix(" of matrix-product speed")


def time_cells(graph: Graph, kernel: Kernel) -> tuple[str, str, str]:
    """Time, share of the graph's own time, and bound; ``?`` for what is not known."""
    if isinstance(kernel.seconds, Unavailable):
        return "?", "?", "?"
    times = graph.kernel_times
    whole = times.graph.median if isinstance(times, KernelTimes) else 0.0
    share = percent(kernel.seconds.median / whole) if whole > 0 else "?"
    bound = "?" if isinstance(kernel.bound, Unavailable) else bound_text(kernel.bound)
    return duration_with_interval(kernel.seconds), share, bound


def speed_text(speed: float, unit: str) -> str:
    """A speed as ``13.2 GB/s``."""
    for size, prefix in _SPEEDS:
        if speed >= size:
            return f"{significant(speed / size)} {prefix}{unit}"
    return f"{significant(speed)} {unit}"


def _share(share: float | Unavailable) -> str:
    """Whole percent, and one digit that counts below 1; empty where it is not known."""
    if isinstance(share, Unavailable):
        return ""
    if share >= 0.01:
        return f"{share * 100:,.0f} %"
    return "below 1 %"
