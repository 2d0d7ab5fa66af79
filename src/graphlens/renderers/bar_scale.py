"""A scale of durations for bars, with round numbers on it."""

import math
from dataclasses import dataclass

from graphlens.renderers.measures import duration_unit

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """From zero to the longest bar.

    Attributes:
        seconds: What the whole width stands for.
        width: In pixels.
        ticks: Round durations as x and text, zero first.
    """

    seconds: float
    width: int
    ticks: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, longest: float, width: int) -> "Scale":
        """The scale on which the longest bar just fits."""
        if longest <= 0:
            return cls(1.0, width, ((0, "0"),))
        size, unit = duration_unit(longest)
        step = _round_step(longest / size)
        count = int(longest / size / step + 1e-9)
        numbers = [step * number for number in range(count + 1)]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9)) + (_mantissa(step) == 2.5)
        ticks = tuple(
            (
                round(value * size / longest * width),
                f"{value:,.{decimals}f} {unit}" if value else "0",
            )
            for value in numbers
        )
        return cls(longest, width, ticks)

    def x(self, seconds: float) -> int:
        """Pixels from the start of a bar to a duration."""
        return round(max(seconds, 0.0) / self.seconds * self.width)


def _round_step(longest: float) -> float:
    """The least round step of which no more fit than can be read."""
    power = float(10 ** math.floor(math.log10(longest / _MOST_TICKS)))
    return next(step * power for step in _STEPS if longest / (step * power) <= _MOST_TICKS)


def _mantissa(step: float) -> float:
    return round(step / math.pow(10, math.floor(math.log10(step) + 1e-9)), 6)
