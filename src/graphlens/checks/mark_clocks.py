"""What stands at the marks of a program: looks at the wall clock, or events of a GPU."""

import time
from collections.abc import Sequence
from statistics import median
from typing import Any, Protocol

import torch

from graphlens.analysis.kernel_times import Run

Noted = tuple[int, Any, Any]
"""A site, and what the clock showed before and after its call."""
_TRIES = 200
# Zeroing so much takes longer than launching two kernels with their events (H200: about 60 us).
_FILL_BYTES = 256 * 1024 * 1024


class MarkClock(Protocol):
    """Takes the time at marks."""

    def begin(self, calls: int) -> None:
        """At the start of a run of a program that makes so many calls."""
        ...

    def now(self) -> Any:
        """What is taken down at a mark."""
        ...

    def seconds(self, run: Sequence[Noted]) -> Run:
        """What was taken down of a run, in seconds; called when the block of runs has ended."""
        ...


class WallMarks:
    """The wall clock, for what runs on the CPU."""

    now = staticmethod(time.perf_counter)

    def begin(self, calls: int) -> None:
        """Nothing is to be done."""

    def seconds(self, run: Sequence[Noted]) -> Run:
        """See `MarkClock`."""
        return [(site, end - start) for site, start, end in run]


class CudaMarks:
    """Events on the stream around each kernel.

    Python must be ahead of the GPU all the time: else the GPU waits between the two events of a
    kernel for its launch, and the wait would count as the kernel's time. So each run of a program
    begins with other work on the stream that takes longer than Python takes to launch all kernels.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.filler: torch.Tensor | None = None

    def begin(self, calls: int) -> None:
        """Gives the GPU work."""
        if self.filler is None:
            self.filler = torch.empty(_FILL_BYTES, dtype=torch.int8, device=self.device)
        for _ in range(1 + calls // 2):
            self.filler.zero_()

    def now(self) -> Any:
        """An event on the current stream."""
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def seconds(self, run: Sequence[Noted]) -> Run:
        """See `MarkClock`."""
        torch.cuda.synchronize(self.device)
        return [(site, start.elapsed_time(end) / 1000) for site, start, end in run]


def mark_clock(device: torch.device) -> MarkClock:
    """The clock that fits a device."""
    return CudaMarks(device) if device.type == "cuda" else WallMarks()


def mark_seconds(clock: MarkClock) -> float:
    """What two marks with nothing between them show: the median of many."""
    clock.begin(_TRIES)
    run = [(0, clock.now(), clock.now()) for _ in range(_TRIES)]
    return median(seconds for _, seconds in clock.seconds(run))
