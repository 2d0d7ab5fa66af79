"""Where Dynamo checks guards and looks for compiled code, as it tells torch's profiler.

The legacy profiler is used, as the other writes to stderr when it starts. Seen on torch 2.11, 2.13
and 2.14.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from graphlens._torch.probes import probe

_LOOKUP = "TorchDynamo Cache Lookup"
_MARK = "graphlens: a graph runs"


@contextmanager
def marked_run() -> Iterator[None]:
    """Around the run of a graph, for `lookups_between` to see."""
    with torch.profiler.record_function(_MARK):
        yield


def lookups_between(step: Callable[[], object]) -> list[float]:
    """Seconds of guards and cache look-up before the first graph of a step, between, and after.

    Args:
        step: Runs each graph inside of `marked_run`, in this thread.

    Returns:
        One number more than graphs were run.
    """
    names: Any = torch.autograd
    names._enable_profiler_legacy(_config())
    try:
        step()
    finally:
        threads = names._disable_profiler_legacy()
    # Of several threads the one that runs the program has the marks, or looks up at least.
    return max(
        (_lookups(thread) for thread in threads),
        key=lambda found: (len(found), found[0]),
        default=[0.0],
    )


def _lookups(events: list[Any]) -> list[float]:
    found = [0.0]
    open_ranges: list[Any] = []
    for event in events:
        if event.kind() == "push":
            open_ranges.append(event)
            if event.name() == _MARK:
                found.append(0.0)
        elif event.kind() == "pop" and open_ranges:
            began = open_ranges.pop()
            if began.name() == _LOOKUP:
                found[-1] += began.cpu_elapsed_us(event) / 1e6
    return found


def _config() -> Any:
    from torch._C._profiler import _ExperimentalConfig

    names: Any = torch.autograd
    shapes, memory, stack, flops, modules = False, False, False, False, False
    return names.ProfilerConfig(
        names.ProfilerState.CPU, shapes, memory, stack, flops, modules, _ExperimentalConfig()
    )


@probe("ranges of the legacy profiler", seen_on="2.11, 2.13, 2.14")
def _probe_lookups() -> str:
    def step() -> None:
        with marked_run():
            torch.zeros(1)

    if len(lookups_between(step)) != 2:
        raise TypeError("a marked range is not seen")
    return _LOOKUP
