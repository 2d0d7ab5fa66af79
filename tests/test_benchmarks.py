"""The benchmark's arithmetic; its measurements mean something on a quiet machine only."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from spread import ratio


def test_the_ratio_is_that_of_pairs_and_not_of_sums() -> None:
    """A slow moment of the machine hits both sides of its pair, and cancels."""
    found = ratio([1.0, 10.0, 1.0], [1.1, 11.0, 1.1])
    assert found.median == pytest.approx(1.1)
    assert (found.low, found.high) == (pytest.approx(1.1), pytest.approx(1.1))
    assert found.pairs == 3


def test_the_interval_holds_the_median_and_widens_with_the_spread() -> None:
    steady = ratio([1.0] * 20, [1.0 + 0.001 * i for i in range(20)])
    noisy = ratio([1.0] * 20, [1.0 + 0.01 * i for i in range(20)])
    for found in (steady, noisy):
        assert found.low <= found.median <= found.high
    assert noisy.high - noisy.low > steady.high - steady.low


def test_the_same_measurements_give_the_same_interval() -> None:
    first, second = [1.0, 1.2, 0.9, 1.1], [1.0, 1.1, 1.0, 1.3]
    assert ratio(first, second) == ratio(first, second)


def test_series_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        ratio([1.0, 2.0], [1.0])
