"""How sure a time is: medians with confidence intervals, ratios by round, verdicts.

Times of a program are not normally distributed: they have a floor and a long tail of interrupts.
So the median is used, with the interval that order statistics give: whatever the distribution,
the number of rounds below the true median is binomial with probability 1/2, so the k-th smallest
and the k-th largest of n rounds enclose it with probability 1 - 2 P(Bin(n, 1/2) < k) (W. J.
Conover, Practical Nonparametric Statistics, 3rd ed. 1999, section 3.2; H. A. David and H. N.
Nagaraja, Order Statistics, 3rd ed. 2003, section 7.1). It needs no random numbers: the same
times give the same interval.

Noise that lasts longer than a round (other programs, the clock frequency) makes rounds depend on
each other. Candidates are therefore timed in turn within each round, and compared by the ratio
within it, where what is common to both cancels (after T. Kalibera and R. Jones, Rigorous
Benchmarking in Reasonable Time, ISMM 2013, whose ratio of means this replaces by the median of
paired ratios). What stays the same in every round does not cancel and no interval shows it: the
places of code and data in memory (T. Mytkowicz et al., Producing Wrong Data Without Doing
Anything Obviously Wrong, ASPLOS 2009). Hence `SMALLEST`.
"""

import math
from collections.abc import Sequence
from statistics import median

from graphlens.model import Measured

ONE_IN = 20  # so often an interval may leave the true median out: 5 %
# Below 6 rounds even the smallest and largest one enclose the median with less than 95 %.
MIN_ROUNDS = 6
# Two runs of the same code differ by up to so much for where their memory lies.
SMALLEST = 0.02


def interval_rank(rounds: int) -> int:
    """The largest k whose k-th smallest and k-th largest round make a 95 % interval; 0 for none."""
    rank, outside = 0, 0
    while True:
        outside += math.comb(rounds, rank)  # rounds that may lie below, as a share of 2**rounds
        if 2 * outside * ONE_IN > 2**rounds:
            return rank
        rank += 1


def measured(values: Sequence[float]) -> Measured:
    """The median of values and its 95 % confidence interval.

    With fewer than `MIN_ROUNDS` values there is no such interval; it then spans all of them, and
    `verdict` says nothing.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("no rounds to take the median of")
    ordered = sorted(values)
    rank = max(interval_rank(len(ordered)), 1)
    return Measured(
        median=median(ordered), low=ordered[rank - 1], high=ordered[-rank], rounds=len(ordered)
    )


def ratio(first_rounds: Sequence[float], second_rounds: Sequence[float]) -> Measured:
    """First divided by second, paired by round: above 1 where the second takes less.

    Raises:
        ValueError: There are no rounds, not equally many of both, or a second one is not above 0.
    """
    if len(first_rounds) != len(second_rounds):
        raise ValueError(f"{len(first_rounds)} rounds against {len(second_rounds)}")
    if any(value <= 0 for value in second_rounds):
        raise ValueError("a round took no time")
    return measured([one / other for one, other in zip(first_rounds, second_rounds, strict=True)])


def difference(first_rounds: Sequence[float], second_rounds: Sequence[float]) -> Measured:
    """First minus second, paired by round: what the second saves.

    Raises:
        ValueError: There are no rounds, or not equally many of both.
    """
    if len(first_rounds) != len(second_rounds):
        raise ValueError(f"{len(first_rounds)} rounds against {len(second_rounds)}")
    return measured([one - other for one, other in zip(first_rounds, second_rounds, strict=True)])


def verdict(speedup: Measured) -> str:
    """``faster`` or ``slower`` where the interval leaves 1 out, else ``same``.

    Where the median is within `SMALLEST` of 1 it is ``same`` too: so much, the placement of
    memory explains. Fewer than `MIN_ROUNDS` rounds make it ``unknown``.
    """
    if speedup.rounds < MIN_ROUNDS:
        return "unknown"
    if speedup.low > 1 and speedup.median >= 1 + SMALLEST:
        return "faster"
    if speedup.high < 1 and speedup.median <= 1 / (1 + SMALLEST):
        return "slower"
    return "same"
