"""Where Dynamo checks guards and looks for compiled code, seen under torch's profiler.

Seen on torch 2.11, 2.13 and 2.14.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from graphlens._torch.probes import probe

_LOOKUP = "TorchDynamo Cache Lookup"
_MARK = "graphlens: a graph runs"


@contextmanager
def marked_run() -> Iterator[None]:
    """Around the run of a graph, for `lookups_between` to see."""
    with torch.profiler.record_function(_MARK):
        yield


def lookups_between(step: Callable[[], None]) -> list[float]:
    """Seconds of guards and cache look-up before the first graph of a step, between, and after.

    Args:
        step: Runs each graph inside of `marked_run`.

    Returns:
        One number more than graphs were run.
    """
    # Without Kineto, which writes to the terminal as it starts and stops.
    with torch.autograd.profiler.profile(use_kineto=False) as profile:
        step()
    events = sorted(
        (event for event in profile.function_events or () if event.name in (_LOOKUP, _MARK)),
        key=lambda event: event.time_range.start,
    )
    found = [0.0]
    for event in events:
        if event.name == _MARK:
            found.append(0.0)
        else:
            found[-1] += event.time_range.elapsed_us() / 1e6
    return found


@probe("Dynamo's look-ups in the profiler", seen_on="2.11, 2.13, 2.14")
def _probe_lookups() -> str:
    found = lookups_between(_marked_nothing)
    if len(found) != 2:
        raise TypeError(f"the profiler saw {len(found) - 1} marks, not 1")
    return "profiler"


def _marked_nothing() -> None:
    with marked_run():
        torch.zeros(1)
