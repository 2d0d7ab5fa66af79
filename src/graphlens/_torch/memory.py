"""How much memory a run holds at once, as torch's allocators tell.

On the CPU the allocator reports to the profiler. The legacy profiler is used: ``torch.profiler``
gives the same events (its ``[memory]``), but its first session takes a second and writes two lines
to stderr (torch 2.13 and 2.14). What libraries and compiled kernels take without torch's allocator
is not seen: scratch memory of oneDNN, local buffers of Inductor's C++ kernels.

Seen on torch 2.11, 2.13 and 2.14.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from graphlens._torch.probes import probe
from graphlens.model import Unavailable


@dataclass(frozen=True)
class Held:
    """Memory of a run, beyond what was there before.

    Attributes:
        peak: Most bytes at once.
        left: Bytes that are still held at the end, such as its outputs.
    """

    peak: int
    left: int


def held_during(run: Callable[[], Any], device: torch.device) -> Held | Unavailable:
    """The memory that a run takes; what it returns is kept until it was measured.

    Args:
        run: Called once; what it raises is raised.
        device: ``cpu`` or ``cuda``, whose peak statistics are then set back.
    """
    if device.type == "cuda":
        return _held_on_cuda(run, device)
    if device.type != "cpu":
        return Unavailable(f"torch does not tell the memory of a run on {device.type}")
    try:
        _start_profiler()
    except Exception as error:  # noqa: BLE001  such as a profiler that runs already
        return Unavailable(f"torch's profiler did not start ({type(error).__name__}: {error})")
    changes: list[int] = []
    try:
        kept = run()
    finally:
        changes = _stop_profiler()
    del kept
    return _summed(changes)


def _held_on_cuda(run: Callable[[], Any], device: torch.device) -> Held:
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    kept = run()
    torch.cuda.synchronize(device)
    peak = torch.cuda.max_memory_allocated(device) - before
    left = torch.cuda.memory_allocated(device) - before
    del kept
    return Held(max(peak, 0), left)


def _summed(changes: list[int]) -> Held:
    held = peak = 0
    for change in changes:
        held += change
        peak = max(peak, held)
    return Held(peak, held)


def _start_profiler() -> None:
    from torch._C._profiler import _ExperimentalConfig

    names: Any = torch.autograd
    shapes, memory, stack, flops, modules = False, True, False, False, False
    config = names.ProfilerConfig(
        names.ProfilerState.CPU, shapes, memory, stack, flops, modules, _ExperimentalConfig()
    )
    names._enable_profiler_legacy(config)


def _stop_profiler() -> list[int]:
    """Bytes taken and, negative, given back, in order."""
    names: Any = torch.autograd
    return [
        int(event.cpu_memory_usage())
        for thread in names._disable_profiler_legacy()
        for event in thread
        if event.kind() == "memory_alloc"
    ]


@probe("memory events of the profiler", seen_on="2.11, 2.13, 2.14")
def _probe_memory() -> str:
    found = held_during(lambda: torch.zeros(1000), torch.device("cpu"))
    if found != Held(4000, 4000):
        raise TypeError(f"1000 floats are {found}")
    return "1000 floats are 4000 bytes"
