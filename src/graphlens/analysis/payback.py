"""After how many calls compiling has paid."""

import math
from collections.abc import Sequence

from graphlens.model import CompilePhase, Measured, Payback, Unavailable

Phases = Sequence[CompilePhase] | Unavailable


def payback(
    cold: Phases, warm: Phases, saved: Measured | Unavailable, epoch_steps: int = 0
) -> Payback:
    """When the seconds that calls save add up to those that compiling took.

    Args:
        cold: Phases of compiling with empty caches.
        warm: Phases of compiling with code that was built before.
        saved: Seconds that a compiled call takes less than an eager one.
        epoch_steps: Calls that make an epoch; 0 where that is not known.
    """
    return Payback(
        cold=cold if isinstance(cold, Unavailable) else tuple(cold),
        warm=warm if isinstance(warm, Unavailable) else tuple(warm),
        saved=saved,
        calls=calls_to_pay(cold, saved),
        calls_warm=calls_to_pay(warm, saved),
        never=isinstance(saved, Measured) and saved.high <= 0,
        epoch_steps=epoch_steps,
    )


def calls_to_pay(phases: Phases, saved: Measured | Unavailable) -> Measured | Unavailable:
    """Whole calls until compiling has paid, with the interval that the one of ``saved`` gives.

    It is there only where the whole interval saves time. Where it does not, the reason says what
    the data leaves open.
    """
    if isinstance(phases, Unavailable):
        return phases
    if isinstance(saved, Unavailable):
        return saved
    spent = sum(phase.seconds for phase in phases)
    if saved.high <= 0:
        return Unavailable("never: a compiled call takes no less time than an eager one")
    if saved.low <= 0:
        least = _calls(spent, saved.high)
        return Unavailable(
            f"unclear: after {least} calls at the earliest, and perhaps never; the times do not "
            "show that a call saves anything"
        )
    return Measured(
        median=_calls(spent, saved.median),
        low=_calls(spent, saved.high),
        high=_calls(spent, saved.low),
        rounds=saved.rounds,
    )


def epochs(calls: Measured, steps: int) -> Measured:
    """Calls as epochs of so many steps.

    Raises:
        ValueError: An epoch has no steps.
    """
    if steps < 1:
        raise ValueError(f"an epoch of {steps} steps")
    return Measured(
        median=calls.median / steps,
        low=calls.low / steps,
        high=calls.high / steps,
        rounds=calls.rounds,
    )


def _calls(spent: float, saved: float) -> int:
    return math.ceil(spent / saved)
