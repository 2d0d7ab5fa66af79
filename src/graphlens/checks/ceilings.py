"""What the machine can do at most: a copy and a product of matrices, timed on the spot.

With the threads and settings of the program, in a fraction of a second.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import torch

from graphlens.analysis.intervals import measured
from graphlens.checks.clocks import Clock, clock_for
from graphlens.model import Ceilings, ProductSpeed, Speed, Unavailable

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Both tensors of a copy together: twice the last-level cache, between these.
_LEAST_COPY, _MOST_COPY = 128 * 2**20, 512 * 2**20
_SMALL_COPIES, _FASTER = [2**n * 2**20 for n in range(7)], 1.5  # 1 to 64 MiB
_SIZE_ON_CPU, _SIZE_ON_GPU = 1024, 8192  # of matrices; half of it is a few percent slower
_ROUNDS, _SECONDS = 7, 0.3  # so many rounds, or as many as the seconds hold
_CALLS = 100


def ceilings(device: torch.device, dtypes: Sequence[str]) -> Ceilings:
    """Measures them.

    Args:
        device: On which kernels ran.
        dtypes: Short names of those that products are timed in.
    """
    clock = clock_for(device)
    last_level = cache_bytes(device)
    size = copy_bytes(last_level)
    with torch.inference_mode():
        copy = _copy_speed(clock, device, size)
        cached = _cached_bytes(clock, device, copy.best)
        products = [_product(clock, device, dtype) for dtype in dtypes]
        call = _call_seconds(clock, device)
    return Ceilings(
        device=str(device),
        threads=torch.get_num_threads(),
        copy=copy,
        copy_bytes=size,
        cache_bytes=cached,
        products=tuple(products),
        call_seconds=call,
    )


def copy_bytes(cache: int | Unavailable) -> int:
    """Bytes that a copy reads and writes so that they do not fit in a cache."""
    wanted = _LEAST_COPY if isinstance(cache, Unavailable) else 2 * cache
    return min(max(wanted, _LEAST_COPY), _MOST_COPY)


def cache_bytes(device: torch.device) -> int | Unavailable:
    """Size of the last-level cache, as the system names it; of a virtual machine the host's."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    sizes = [_size(file) for file in _CACHES.glob("index*/size")]
    return max(sizes, default=0) or Unavailable("the system does not say")


def _size(file: Path) -> int:
    """Bytes that Linux names as ``32768K``; 0 where it cannot be read."""
    try:
        return int(file.read_text().strip().removesuffix("K")) * 1024
    except (OSError, ValueError):
        return 0


def _cached_bytes(clock: Clock, device: torch.device, speed: float) -> int:
    """Of the largest copy that is clearly faster than one from memory; the L2 cache of a GPU."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    found = 0
    for size in _SMALL_COPIES:
        if _copy_speed(clock, device, size).best < _FASTER * speed:
            break
        found = size
    return found


def _copy_speed(clock: Clock, device: torch.device, size: int) -> Speed:
    source = torch.ones(size // 2, dtype=torch.int8, device=device)
    target = torch.ones_like(source)  # written, so that its pages are there
    return _speed(clock, lambda _: target.copy_(source), size)


def _product(clock: Clock, device: torch.device, dtype: str) -> ProductSpeed:
    size = _SIZE_ON_GPU if device.type == "cuda" else _SIZE_ON_CPU
    kind: torch.dtype = getattr(torch, dtype)
    first = torch.rand(size, size, device=device).to(kind)
    second = torch.rand(size, size, device=device).to(kind)
    result = torch.empty_like(first)
    speed = _speed(clock, lambda _: torch.mm(first, second, out=result), 2 * size**3)
    return ProductSpeed(dtype=dtype, size=size, speed=speed)


def _call_seconds(clock: Clock, device: torch.device) -> float:
    one = torch.ones(1, device=device)
    step = lambda _: torch.neg(one, out=one)  # noqa: E731  as the others
    return median(clock.block((step,), None, _CALLS)[0] for _ in range(_ROUNDS))


def _speed(clock: Clock, step: Callable[[object], object], number: int) -> Speed:
    """So much is done by a step; the first one warms up."""
    clock.block((step,), None, 1)
    start = time.perf_counter()
    speeds: list[float] = []
    while len(speeds) < _ROUNDS and (len(speeds) < 2 or time.perf_counter() - start < _SECONDS):
        speeds.append(number / clock.block((step,), None, 1)[0])
    return Speed(best=max(speeds), usual=measured(speeds))
