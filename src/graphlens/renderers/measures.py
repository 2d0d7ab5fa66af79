"""How measured numbers are put into words: durations, ratios, errors and sizes, with intervals."""

import math
import sys
from collections.abc import Sequence

from graphlens.model import Errors, Measured

# Stands in report data for what is not finite, as JSON has no number for that.
_NOT_FINITE = sys.float_info.max * 0.99
_SMALLEST_DURATION = 1e-7
_UNITS = ((1.0, "s"), (1e-3, "ms"))
_BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def significant(value: float, digits: int = 3) -> str:
    """A number with so many digits that count, zeros at its end kept: ``1.20``, ``1,240``."""
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{rounded:,.{decimals_of(rounded, digits)}f}"


def decimals_of(value: float, digits: int = 3) -> int:
    """Decimals that a number needs so that so many of its digits count."""
    if value == 0:
        return 0
    magnitude = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    return max(digits - 1 - magnitude, 0)


def duration_unit(value: float) -> tuple[float, str]:
    """The unit people would use for a duration in seconds: its size in seconds, and its name."""
    return _UNITS[0] if abs(value) >= 0.9995 else _UNITS[1]


def duration(value: float) -> str:
    """Seconds as ``12.4 ms`` or ``0.0124 ms``."""
    if abs(value) < _SMALLEST_DURATION:
        return "0 ms"
    size, unit = duration_unit(value)
    return f"{significant(value / size)} {unit}"


def brief_duration(value: float) -> str:
    """Seconds of a kernel as ``12.4 us`` or ``2.64 ns``."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= size:
            return f"{significant(value / size)} {unit}"
    return f"{significant(value / 1e-9)} ns"


def duration_with_interval(measured: Measured) -> str:
    """A duration as ``1.24 ms (1.20 to 1.31)``."""
    return f"{duration(measured.median)} ({duration_interval(measured)})"


def duration_interval(measured: Measured) -> str:
    """The interval of a duration, in its unit and as exact as it: ``1.20 to 1.31``."""
    size, _ = duration_unit(measured.median)
    numbers = [value / size for value in (measured.median, measured.low, measured.high)]
    tiny = abs(measured.median) < _SMALLEST_DURATION
    leading = max(numbers, key=abs) if tiny else numbers[0]
    decimals = min(decimals_of(leading), 6)
    return f"{_fixed(numbers[1], decimals)} to {_fixed(numbers[2], decimals)}"


def ratio(value: float) -> str:
    """A ratio as ``1.23x`` or ``12.3x``."""
    return f"{value:,.{_ratio_decimals(value)}f}x"


def ratio_interval(measured: Measured) -> str:
    """The interval of a ratio, as exact as it: ``1.19 to 1.28``."""
    decimals = _ratio_decimals(measured.median)
    return f"{measured.low:,.{decimals}f} to {measured.high:,.{decimals}f}"


def direction(measured: Measured) -> str:
    """``faster`` or ``slower`` where the interval of a speed-up leaves 1 out, else ``unclear``."""
    if measured.low > 1:
        return "faster"
    return "slower" if measured.high < 1 else "unclear"


def speedup(measured: Measured) -> str:
    """A speed-up as ``1.23x faster (1.19 to 1.28)``; what is below 1 is called slower."""
    word = direction(measured)
    comma = "" if word == "faster" else ","
    return f"{ratio(measured.median)}{comma} {word} ({ratio_interval(measured)})"


def error(value: float) -> str:
    """A difference as ``3.1e-05`` or ``0.125``."""
    if value >= _NOT_FINITE:
        return "infinite"
    if value == 0:
        return "0"
    return f"{value:.3g}" if 1e-3 <= value < 1e4 else f"{value:.1e}"


def error_with_holes(errors: Errors) -> str:
    """The largest absolute difference, and where values are NaN or infinite that must not be."""
    holes = [f"{errors.nan:,} NaN"] if errors.nan else []
    holes += [f"{errors.inf:,} Inf"] if errors.inf else []
    return f"{error(errors.max_abs)} ({', '.join(holes)})" if holes else error(errors.max_abs)


def size_of_memory(value: int) -> str:
    """Bytes as ``4.20 MiB``."""
    for size, unit in _BYTES:
        if value >= size:
            return f"{significant(value / size)} {unit}"
    return f"{value:,} B"


def number_of_calls(measured: Measured) -> str:
    """A number of calls with its interval: ``1,240 calls (1,100 to 1,400)``."""
    low, high = _whole(measured.low), _whole(measured.high)
    interval = f"{low} or more" if measured.high >= _NOT_FINITE else f"{low} to {high}"
    number = _whole(measured.median)
    return f"{number} {'call' if number == '1' else 'calls'} ({interval})"


def shares(parts: Sequence[float], whole: float) -> list[str]:
    """Each part of a whole in percent with one decimal, rounded so that what is shown adds up."""
    if whole <= 0:
        return ["?"] * len(parts)
    exact = [part / whole * 1000 for part in parts]
    tenths = [math.floor(value) for value in exact]
    missing = round(sum(exact)) - sum(tenths)
    by_rest = sorted(range(len(exact)), key=lambda index: tenths[index] - exact[index])
    for index in by_rest[:missing]:
        tenths[index] += 1
    return [percent(value / 1000) for value in tenths]


def percent(share: float) -> str:
    """A share of 1 as ``62.1 %``."""
    return f"{share * 100:.1f} %"


def _whole(value: float) -> str:
    """A number of calls: up to 1,000 rounded up, above to three digits."""
    return f"{math.ceil(value):,}" if value < 1000 else significant(value)


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def _ratio_decimals(value: float) -> int:
    return 2 if 0.1 <= value < 9.995 else min(decimals_of(value), 4)
