"""Ratios of paired measurements, with their spread."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000


@dataclass(frozen=True)
class Ratio:
    """How many times as much the second took as the first, in pairs taken side by side.

    Attributes:
        median: Of the pairs' ratios.
        low: Lower end of the median's 95 % bootstrap interval.
        high: Upper end of it.
        quartiles: First and third quartile of the ratios: how much single pairs vary.
        pairs: How many there were.
    """

    median: float
    low: float
    high: float
    quartiles: tuple[float, float]
    pairs: int

    def __str__(self) -> str:
        return (
            f"{self.median:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}, "
            f"quartiles {self.quartiles[0]:.3f} and {self.quartiles[1]:.3f}, {self.pairs} pairs)"
        )


def ratio(first: Sequence[float], second: Sequence[float]) -> Ratio:
    """Compares two series of equal length whose entries were measured next to each other."""
    pairs = sorted(b / a for a, b in zip(first, second, strict=True))
    generator = random.Random(0)  # the same interval for the same measurements
    medians = sorted(
        statistics.median(generator.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES)
    )
    quarters = statistics.quantiles(pairs, n=4) if len(pairs) > 1 else [pairs[0]] * 3
    return Ratio(
        median=statistics.median(pairs),
        low=medians[int(0.025 * RESAMPLES)],
        high=medians[int(0.975 * RESAMPLES)],
        quartiles=(quarters[0], quarters[2]),
        pairs=len(pairs),
    )
