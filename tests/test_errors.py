"""Errors of a tensor: by hand, and what holds for any."""

import math

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlens.checks.errors import comparable, distance, errors

FLOATS = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
]
EXACT = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.bool]
COMPLEX = [torch.complex64, torch.complex128]


def test_errors_by_hand() -> None:
    found = errors(
        torch.tensor([1.0, 2.0, -3.0]), torch.tensor([1.0, 2.0 + 2**-22, -4.0], dtype=torch.float64)
    )
    assert found.max_abs == 1.0
    assert found.max_rel == 0.25
    assert found.max_ulp == 2**21  # at 4 a unit is 2^-21
    assert found.unequal == 2
    length = math.sqrt(14) * math.sqrt(1 + (2 + 2**-22) ** 2 + 16)
    assert found.cosine == pytest.approx((1 + 2 * (2 + 2**-22) + 12) / length, abs=1e-15)


@pytest.mark.parametrize(
    ("dtype", "unit"),
    [
        (torch.float32, 2**-23),
        (torch.float16, 2**-10),
        (torch.bfloat16, 2**-7),
        (torch.float8_e4m3fn, 2**-3),
        (torch.float64, 2**-52),
    ],
)
def test_one_unit_in_the_last_place(dtype: torch.dtype, unit: float) -> None:
    value = torch.tensor([1.0 + unit, 8.0, -0.5], dtype=torch.float64).to(dtype)
    truth = torch.tensor([1.0, 8.0, -0.5], dtype=torch.float64)
    assert errors(value, truth).max_ulp == 1.0
    assert errors(value, truth).max_abs == unit


def test_a_unit_below_the_smallest_normal_number_is_the_smallest_number() -> None:
    tiny = 2.0**-24
    assert errors(torch.tensor([tiny]).half(), torch.zeros(1)).max_ulp == 1.0
    assert errors(torch.tensor([0.0]).half(), torch.tensor([2.0**-17])).max_ulp == 2**7


def test_special_values_are_counted_and_left_out() -> None:
    nan, inf = math.nan, math.inf
    value = torch.tensor([nan, nan, inf, -inf, inf, 1.0])
    truth = torch.tensor([nan, 1.0, inf, inf, 2.0, 1.5])
    found = errors(value, truth)
    assert (found.nan, found.inf, found.unequal) == (1, 2, 4)
    assert found.max_abs == 0.5
    assert not distance(value, truth).finite


def test_numbers_stay_finite() -> None:
    large = torch.tensor([1e308, -1e308], dtype=torch.float64)
    found = errors(large, -large)
    assert math.isfinite(found.max_abs)
    assert math.isfinite(found.max_rel)
    assert found.cosine == -1.0
    assert (
        errors(torch.tensor([1.0]), torch.tensor([1e-320], dtype=torch.float64)).max_rel < math.inf
    )


def test_large_integers_that_differ_by_one() -> None:
    found = errors(torch.tensor([2**60 + 1]), torch.tensor([2**60]))
    assert (found.unequal, found.max_abs, found.max_ulp) == (1, 1.0, None)


def test_complex_numbers() -> None:
    found = errors(torch.tensor([3 + 4j]), torch.tensor([3 + 0j], dtype=torch.complex128))
    assert found.max_abs == 4.0
    assert found.max_rel == pytest.approx(4 / 3)
    assert found.cosine == pytest.approx(9 / 15)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_kinds_of_tensors() -> None:
    plain = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    assert errors(plain.to_sparse(), plain).unequal == 0
    assert errors(torch.nn.Parameter(plain), plain.t()).unequal == 0
    assert (
        errors(
            torch.nested.nested_tensor([torch.ones(2), torch.ones(1)]),
            torch.tensor([[1.0, 1.0], [1.0, 0.0]]),
        ).unequal
        == 0
    )
    assert errors(plain.to(torch.complex64).conj(), plain.to(torch.complex64)).unequal == 0


def test_what_cannot_be_compared() -> None:
    assert comparable(torch.zeros(2), torch.zeros(2)) == ""
    assert comparable(torch.zeros(2), torch.zeros(3)) == "shape [2] against [3]"
    assert comparable(torch.zeros(2), torch.zeros(2).half()) == "dtype float32 against float16"
    assert comparable(torch.zeros(2), None) == "a tensor against none"
    assert comparable(1, 2) == ""


@pytest.mark.parametrize("dtype", [*FLOATS, *EXACT, *COMPLEX], ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 0, 3)], ids=str)
def test_a_tensor_is_no_distance_from_itself(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    value = (torch.rand(shape) * 5).to(dtype)
    found = errors(value, value)
    assert (found.max_abs, found.max_rel, found.unequal) == (0, 0, 0)
    assert (found.max_ulp is None) == (dtype in EXACT)
    assert found.cosine is None or found.cosine == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=20),
    st.sampled_from(FLOATS[:4]),
)
def test_errors_hold_what_they_promise(
    pairs: list[tuple[float, float]], dtype: torch.dtype
) -> None:
    value = torch.tensor([a for a, _ in pairs]).to(dtype)
    truth = torch.tensor([b for _, b in pairs], dtype=torch.float64)
    found = errors(value, truth)
    for number in (found.max_abs, found.max_rel, found.max_ulp):
        assert number is not None
        assert math.isfinite(number)
        assert number >= 0
    assert found.cosine is None or -1 <= found.cosine <= 1
    assert found.unequal >= found.nan
    both = torch.isfinite(value) & torch.isfinite(truth)
    off = (value.double() - truth)[both].abs()
    assert found.max_abs == pytest.approx(float(off.max()) if off.numel() else 0.0)
    # In any order the same.
    flipped = errors(value.flip(0), truth.flip(0))
    assert (flipped.max_abs, flipped.max_ulp, flipped.unequal) == (
        found.max_abs,
        found.max_ulp,
        found.unequal,
    )


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    value, truth = torch.randn(5, 7, 11).transpose(0, 2), torch.randn(11, 7, 5, dtype=torch.float64)
    whole = distance(value, truth)
    monkeypatch.setattr("graphlens.checks.errors._PIECE", 6)
    parts = distance(value, truth)
    assert parts.errors.max_abs == whole.errors.max_abs
    assert parts.errors.unequal == whole.errors.unequal
    assert parts.rms == pytest.approx(whole.rms)
    assert parts.errors.cosine == pytest.approx(whole.errors.cosine)
