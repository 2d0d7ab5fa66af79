import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlens.analysis.intervals import (
    MIN_ROUNDS,
    difference,
    interval_rank,
    measured,
    ratio,
    verdict,
)
from graphlens.model import Measured

times = st.floats(1e-7, 1e3)
rounds = st.lists(times, min_size=1, max_size=60)
pairs = st.lists(st.tuples(times, times), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("count", "rank"), [(1, 0), (5, 0), (6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (100, 40)]
)
def test_ranks_are_those_of_published_tables(count, rank):
    # Conover, table of the sign test; such as 20 rounds: the 6th and the 15th
    assert interval_rank(count) == rank


@given(rounds)
def test_the_interval_encloses_the_median_and_does_not_depend_on_order(values):
    found = measured(values)
    assert min(values) <= found.low <= found.median <= found.high <= max(values)
    assert found.median == median(values)
    assert found == measured(list(reversed(values)))
    assert found.rounds == len(values)


@given(rounds, st.floats(0.01, 100))
def test_another_unit_of_time_changes_the_unit_only(values, factor):
    one, other = measured(values), measured([value * factor for value in values])
    assert other.median == pytest.approx(one.median * factor)
    assert (other.low, other.high) == pytest.approx((one.low * factor, one.high * factor))


@given(pairs)
def test_swapped_candidates_give_the_inverse(pairs):
    first, second = zip(*pairs, strict=True)
    one, other = ratio(first, second), ratio(second, first)
    assert one.low == pytest.approx(1 / other.high)
    assert one.high == pytest.approx(1 / other.low)
    turned = {"faster": "slower", "slower": "faster"}
    if len(pairs) % 2:  # else the median is a mean of two, whose inverse is another one
        assert verdict(other) == turned.get(verdict(one), verdict(one))


@given(pairs, st.lists(st.floats(0.1, 10), min_size=60, max_size=60))
def test_noise_common_to_a_round_cancels(pairs, noise):
    first, second = zip(*pairs, strict=True)
    still = ratio(first, second)
    shaken = ratio(
        [a * n for a, n in zip(first, noise, strict=False)],
        [b * n for b, n in zip(second, noise, strict=False)],
    )
    assert (shaken.low, shaken.median, shaken.high) == pytest.approx(
        (still.low, still.median, still.high)
    )


def test_the_interval_holds_the_true_median_as_often_as_it_says():
    made = random.Random(0)
    held = 0
    for _ in range(1000):
        found = measured([made.expovariate(1.0) for _ in range(25)])
        held += found.low <= 0.6931 <= found.high
    assert 0.94 <= held / 1000 <= 0.985


def test_equal_candidates_are_seldom_called_different():
    made = random.Random(1)
    wrong = 0
    for _ in range(500):
        first = [1 + made.expovariate(10) for _ in range(30)]
        second = [1 + made.expovariate(10) for _ in range(30)]
        wrong += verdict(ratio(first, second)) != "same"
    assert wrong <= 25


@pytest.mark.parametrize(
    ("low", "median", "high", "rounds", "expected"),
    [
        (1.1, 1.2, 1.3, 10, "faster"),
        (0.7, 0.8, 0.9, 10, "slower"),
        (0.9, 1.2, 1.3, 10, "same"),
        (1.001, 1.01, 1.02, 10, "same"),
        (1.1, 1.2, 1.3, MIN_ROUNDS - 1, "unknown"),
    ],
)
def test_verdicts(low, median, high, rounds, expected):
    assert verdict(Measured(low=low, median=median, high=high, rounds=rounds)) == expected


def test_what_cannot_be_compared_raises():
    with pytest.raises(ValueError, match="no rounds"):
        measured([])
    with pytest.raises(ValueError, match="2 rounds against 1"):
        ratio([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="no time"):
        ratio([1.0], [0.0])


def test_a_difference_is_by_round():
    assert difference([3.0, 5.0, 4.0], [1.0, 2.0, 4.0]).median == 2.0
