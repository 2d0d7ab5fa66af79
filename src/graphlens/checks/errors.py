"""How far a tensor is from another that stands for the truth."""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from graphlens.model import Errors

# Elements measured at once: a handful of float64 copies of a piece are some 20 MB.
_PIECE = 1 << 18
_LARGEST = sys.float_info.max
_EXPONENT_BITS = 0x7FF0000000000000
# Squares of numbers between, and sums of a piece of them, neither overflow nor vanish.
_SAFE = 1e-140, 1e140


@dataclass
class Distance:
    """What `errors` says, and what a verdict needs besides.

    Attributes:
        errors: As data.
        rms: Root of the mean square of the differences, over positions where both are finite.
        truth_rms: The same of the truth.
        truth_max: Its largest absolute value there.
        excess: Largest difference beyond a few units in the last place of each element.
        finite: Whether all elements of both are finite.
    """

    errors: Errors
    rms: float
    truth_rms: float
    truth_max: float
    excess: float
    finite: bool


def errors(value: torch.Tensor, truth: torch.Tensor) -> Errors:
    """The errors of a tensor.

    Takes any dtype, layout and strides, in time linear in the size, a piece at a time.

    Args:
        value: To measure; its dtype says what a unit in the last place is.
        truth: What it should be, of the same shape; mostly of a wider dtype. See `comparable`.
    """
    return distance(value, truth).errors


def distance(value: torch.Tensor, truth: torch.Tensor, ulps: float = 0.0) -> Distance:
    """As `errors`, with what a verdict needs besides.

    Args:
        value: To measure.
        truth: What it should be.
        ulps: Units in the last place of each element of the truth that ``excess`` leaves out.
    """
    with torch.no_grad():
        value, truth = dense(value), dense(truth)
        sums = _Sums(value.dtype, ulps)
        for piece, true in pieces(value, truth):
            sums.add(piece, true.to(piece.device))
        return sums.result()


def spread(value: torch.Tensor, truth: torch.Tensor) -> tuple[float, float]:
    """The largest difference and its root mean square where both are finite, and no more."""
    largest, squares, count = 0.0, _Scaled(), 0
    for piece, true in pieces(dense(value), dense(truth)):
        off = (wide(piece) - wide(true.to(piece.device))).abs()
        if not math.isfinite(float(off.max())):
            off = off[torch.isfinite(off)]
        if off.numel():
            largest = max(largest, float(off.max()))
            squares.add_squares(off)
            count += off.numel()
    return _bounded(largest), _bounded(squares.root() / math.sqrt(max(count, 1)))


def comparable(a: Any, b: Any) -> str:
    """Why two values cannot be compared element by element; empty where they can."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        kinds = [_kind(value) for value in (a, b)]
        return "" if kinds[0] == kinds[1] else f"{kinds[0]} against {kinds[1]}"
    a, b = dense(a), dense(b)
    if a.shape != b.shape:
        return f"shape {list(a.shape)} against {list(b.shape)}"
    if a.dtype != b.dtype:
        return f"dtype {short(a.dtype)} against {short(b.dtype)}"
    return ""


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as a plain one with strides: nested ones padded with 0, sparse ones filled."""
    made = tensor.detach()
    if made.is_nested:
        made = torch.nested.to_padded_tensor(made, 0.0)
    if made.layout is not torch.strided:
        made = made.to_dense()
    if made.is_quantized:
        made = made.dequantize()
    if type(made) is not torch.Tensor:
        made = made.as_subclass(torch.Tensor)
    return made.resolve_conj().resolve_neg()


def short(dtype: torch.dtype) -> str:
    """A dtype's name without ``torch.``."""
    return str(dtype).removeprefix("torch.")


def ulp(truth: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A unit in the last place of a dtype at values given in float64."""
    info = torch.finfo(dtype)
    # Below it all numbers are equally far apart; a dtype without subnormals has none below.
    lowest = math.ldexp(1.0, max(math.frexp(info.tiny)[1] - 1, -1022))
    # A number in float64 with its fraction's bits at 0 is the power of two at or below it.
    powers = (truth.contiguous().view(torch.int64) & _EXPONENT_BITS).view(torch.float64)
    return powers.clamp_(min=lowest).mul_(info.eps)


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in float64, or complex128."""
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _kind(value: Any) -> str:
    if value is None:
        return "none"
    return "a tensor" if isinstance(value, torch.Tensor) else f"a {type(value).__name__}"


def pieces(value: torch.Tensor, truth: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Parts of two tensors, flat; cut along dimensions, as flattening the whole may copy it."""
    if value.numel() == 0:
        return
    if value.numel() <= _PIECE:
        yield value.reshape(-1), truth.reshape(-1)
        return
    size = value.shape[0]
    row = value.numel() // size
    if row > _PIECE or size == 1:
        for number in range(size):
            yield from pieces(value[number], truth[number])
        return
    step = max(1, _PIECE // row)
    for start in range(0, size, step):
        yield (
            value.narrow(0, start, min(step, size - start)).reshape(-1),
            truth.narrow(0, start, min(step, size - start)).reshape(-1),
        )


class _Sums:
    """Adds up pieces. Squares are kept relative to the largest value seen, so none overflows."""

    def __init__(self, dtype: torch.dtype, ulps: float) -> None:
        self.dtype = dtype.to_real() if dtype.is_complex else dtype
        self.fractions = dtype.is_floating_point or dtype.is_complex
        self.ulps = ulps
        self.count = self.unequal = self.nan = self.inf = 0
        self.finite = True
        self.max_abs = self.max_rel = self.max_ulp = self.excess = 0.0
        self.value, self.truth, self.off, self.dot = (_Scaled() for _ in range(4))

    def add(self, value: torch.Tensor, truth: torch.Tensor) -> None:
        equal = _equal(value, truth)
        self.unequal += equal.numel() - int(equal.sum())
        value, truth = wide(value), wide(truth)
        if value.is_complex() != truth.is_complex():
            value, truth = (part.to(torch.complex128) for part in (value, truth))
        off = (value - truth).abs()
        # Not finite too where two large numbers are far apart.
        if not math.isfinite(float(off.max())):
            self._count_special(value, truth)
            finite = torch.isfinite(value) & torch.isfinite(truth)
            self.finite = self.finite and bool(finite.all())
            value, truth, equal = value[finite], truth[finite], equal[finite]
            off = ((value / 2 - truth / 2).abs() * 2).clamp(max=_LARGEST)
        if value.numel():
            self._add_finite(value, truth, equal, off)

    def result(self) -> Distance:
        root = math.sqrt(max(self.count, 1))
        directed = self.value.total > 0 and self.truth.total > 0
        found = Errors(
            max_abs=_bounded(self.max_abs),
            max_rel=_bounded(self.max_rel),
            max_ulp=_bounded(self.max_ulp) if self.fractions else None,
            cosine=self._cosine() if directed else None,
            unequal=self.unequal,
            nan=self.nan,
            inf=self.inf,
        )
        return Distance(
            errors=found,
            rms=_bounded(self.off.root() / root),
            truth_rms=_bounded(self.truth.root() / root),
            truth_max=_bounded(self.truth.scale),
            excess=_bounded(self.excess),
            finite=self.finite,
        )

    def _cosine(self) -> float:
        total = self.dot.total / math.sqrt(self.value.total * self.truth.total)
        # One after the other, as a product of scales may overflow.
        cosine = total * (self.dot.scale / self.value.scale) * (self.dot.scale / self.truth.scale)
        return max(-1.0, min(1.0, cosine)) if math.isfinite(cosine) else 0.0

    def _count_special(self, value: torch.Tensor, truth: torch.Tensor) -> None:
        nans = torch.isnan(value), torch.isnan(truth)
        self.nan += int((nans[0] ^ nans[1]).sum())
        infs = [torch.isinf(part) & ~nan for part, nan in zip((value, truth), nans, strict=True)]
        other_sign = infs[0] & infs[1] & (value != truth)
        self.inf += int(((infs[0] ^ infs[1]) | other_sign).sum())

    def _add_finite(
        self, value: torch.Tensor, truth: torch.Tensor, equal: torch.Tensor, off: torch.Tensor
    ) -> None:
        self.count += value.numel()
        if not self.fractions:
            # Large integers that differ may be the same in float64.
            off = torch.where(equal, 0.0, off.clamp(min=1.0))
        largest = float(off.max())
        self.max_abs = max(self.max_abs, largest)
        size = truth.abs().clamp(max=_LARGEST)
        self.truth.add_squares(size)
        if largest == 0:
            self.value.add_squares(size)
            self.dot.add_squares(size)
            return
        relative = off / torch.where(size > 0, size, 1.0)
        self.max_rel = max(self.max_rel, float(relative.max()))
        if self.fractions:
            self._add_ulps(value, truth, off)
        else:
            self.excess = self.max_abs
        self.off.add_squares(off)
        self.value.add_squares(value.abs().clamp(max=_LARGEST))
        self.dot.add_products(value, truth)

    def _add_ulps(self, value: torch.Tensor, truth: torch.Tensor, off: torch.Tensor) -> None:
        if value.is_complex():
            parts = torch.view_as_real(value) / 2 - torch.view_as_real(truth) / 2
            apart, at = parts.abs() * 2, torch.view_as_real(truth)
        else:
            apart, at = off, truth
        unit = ulp(at, self.dtype)
        self.max_ulp = max(self.max_ulp, float((apart / unit).max()))
        if value.is_complex():
            unit = unit.amax(-1)
        self.excess = max(self.excess, float((off - self.ulps * unit).max()))


class _Scaled:
    """A sum of products, relative to the square of the largest scale so far."""

    def __init__(self) -> None:
        self.scale = 0.0
        self.total = 0.0

    def add_squares(self, size: torch.Tensor) -> None:
        largest = float(size.max())
        if _SAFE[0] < largest < _SAFE[1]:
            self._add(float(torch.dot(size, size)) / largest**2, largest)
        elif largest:
            self._add(float((size / largest).square().sum()), largest)

    def add_products(self, a: torch.Tensor, b: torch.Tensor) -> None:
        largest = [float(part.abs().max().clamp(max=_LARGEST)) for part in (a, b)]
        if all(_SAFE[0] < one < _SAFE[1] for one in largest) and not a.is_complex():
            total = float(torch.dot(a, b)) / largest[0] / largest[1]
            self._add(total, math.sqrt(largest[0]) * math.sqrt(largest[1]))
        elif all(largest):
            product = (a / largest[0] * (b / largest[1]).conj()).sum()
            self._add(float(product.real), math.sqrt(largest[0]) * math.sqrt(largest[1]))

    def _add(self, total: float, scale: float) -> None:
        if scale > self.scale:
            self.total *= (self.scale / scale) ** 2
            self.scale = scale
        self.total += total * (scale / self.scale) ** 2

    def root(self) -> float:
        return self.scale * math.sqrt(max(self.total, 0.0))


def _equal(value: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    if value.dtype != truth.dtype:
        value, truth = wide(value), wide(truth)
    elif value.is_floating_point() and value.dtype.itemsize == 1:
        value, truth = wide(value), wide(truth)  # no comparison of float8 on torch 2.11
    return (value == truth) | (torch.isnan(value) & torch.isnan(truth))


def _bounded(number: float) -> float:
    return min(number, _LARGEST) if not math.isnan(number) else _LARGEST
