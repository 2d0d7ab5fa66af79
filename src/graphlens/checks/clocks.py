"""Clocks that time a block of runs: the wall clock, and the events of a GPU."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch.utils.benchmark import Timer

Step = Callable[[Any], Any]
Prepare = Callable[[], object] | None
# Zeroed between runs, so that none finds its data in the cache; larger than any GPU's (H200: 50 MB)
_CACHE_BYTES = 256 * 1024 * 1024


class Clock(Protocol):
    """Times a block of runs."""

    def block(self, steps: Sequence[Step], prepare: Prepare, number: int) -> tuple[float, ...]:
        """Mean seconds of a run by step.

        Args:
            steps: Of a run; each is given what the one before returned, the first None.
            prepare: Called before each run, outside of the clock.
            number: Of runs.
        """
        ...


class WallClock:
    """The clock on the wall, for what runs on the CPU."""

    def __init__(self) -> None:
        self.timers: dict[Step, Timer] = {}

    def block(self, steps: Sequence[Step], prepare: Prepare, number: int) -> tuple[float, ...]:
        """See `Clock`; many runs of a single step without a prepare are timed as a whole."""
        if number > 1 and len(steps) == 1 and prepare is None:
            return (self.timer(steps[0]).timeit(number).mean,)
        totals = [0.0] * len(steps)
        for _ in range(number):
            if prepare is not None:
                prepare()
            value: Any = None
            for index, step in enumerate(steps):
                start = time.perf_counter()
                value = step(value)
                totals[index] += time.perf_counter() - start
            del value  # freed outside of the clock, and before the next run takes memory
        return tuple(total / number for total in totals)

    def timer(self, step: Step) -> Timer:
        """Made once: it compiles its statement."""
        if step not in self.timers:
            # It would time with one thread if it was not told.
            threads = torch.get_num_threads()
            self.timers[step] = Timer("step(None)", globals={"step": step}, num_threads=threads)
        return self.timers[step]


class CudaClock:
    """Events on the GPU's stream, as ``triton.testing.do_bench`` times.

    What is timed runs from the first kernel to the last, with the gaps where the GPU waits for
    Python. The L2 cache is overwritten before each run.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.cache: torch.Tensor | None = None

    def block(self, steps: Sequence[Step], prepare: Prepare, number: int) -> tuple[float, ...]:
        """See `Clock`."""
        if self.cache is None:
            self.cache = torch.empty(_CACHE_BYTES, dtype=torch.int8, device=self.device)
        marks = [[_event() for _ in range(len(steps) + 1)] for _ in range(number)]
        with torch.cuda.device(self.device):
            for events in marks:
                if prepare is not None:
                    prepare()
                self.cache.zero_()
                value: Any = None
                events[0].record()
                for step, event in zip(steps, events[1:], strict=True):
                    value = step(value)
                    event.record()
                del value
            torch.cuda.synchronize(self.device)
        return tuple(
            sum(events[n].elapsed_time(events[n + 1]) for events in marks) / number / 1000
            for n in range(len(steps))
        )


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def clock_for(device: torch.device) -> Clock:
    """The clock that fits a device."""
    return CudaClock(device) if device.type == "cuda" else WallClock()
