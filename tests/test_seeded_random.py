"""Philox against its authors' known answers, and what a graph draws from it."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from graphlens._torch.seeded_random import philox, randint, random


def test_the_known_answer_of_random123() -> None:
    # kat_vectors of Random123: philox4x32 10, counter and key 0.
    words = [int(word[0]) for word in philox(0, 1)]

    assert [f"{word:08x}" for word in words] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


def test_uniform_and_normal_numbers_are_distributed_so() -> None:
    seed = torch.tensor(-1234567890123456789)
    uniform, normal = (random([200, 500], seed, mode) for mode in ("rand", "randn"))

    assert uniform.dtype == torch.float32
    assert 0 <= uniform.min() <= uniform.max() < 1
    # The mean of n numbers is off by 3 / sqrt(12 n) in one of 370 cases; the seed is fixed.
    assert uniform.mean().item() == pytest.approx(0.5, abs=3 / (12 * 100_000) ** 0.5)
    assert normal.mean().item() == pytest.approx(0.0, abs=3 / 100_000**0.5)
    assert normal.std().item() == pytest.approx(1.0, abs=0.01)


def test_whole_numbers_lie_in_their_range() -> None:
    drawn = randint(-3, 4, [1000], torch.tensor(7))

    assert set(drawn.tolist()) == set(range(-3, 4))
