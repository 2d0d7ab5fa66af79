"""Whether numbers differ by more than rounding: the rules, and their constants.

Each constant was chosen by measurement; see `FACTOR`.
"""

from dataclasses import dataclass, field

import torch

from graphlens.checks.errors import Distance, dense, distance, pieces, spread, wide

FACTOR = 4.0
"""How many times further from the reference than eager compiled code may be.

Without a fault compiled is mostly 0.7 to 2 times as far (ResNet-18, BERT, GPT-2, ViT and T5, small,
in float32, bfloat16 and float16, forward and backward, torch 2.14 on a CPU). Where eager alone was
asked, the most seen is 3.9 times in the largest difference and 3.8 in the root mean square; more
only where runs rounded at random explain it, both in ResNet-18: 5 times in float16, and 20 times in
training in float32 with two images of 32 x 32.
"""

FLOOR_ULPS = 4.0
"""Units in the last place that are never a fault: of each element, and of the root mean square."""

SENSITIVE_ULPS = 1000.0
"""From how many units in the last place on eager's own error is called the input's."""

NOTHING = 100.0
"""How many times its size a tensor's error in eager may be, for its size to say anything."""

# What torch.testing.assert_close allows by default, relative and absolute.
_ALLOWED = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


def allowed(dtype: torch.dtype) -> tuple[float, float]:
    """The relative and absolute tolerance of ``torch.testing.assert_close``."""
    return _ALLOWED.get(dtype, (0.0, 0.0))


def close(a: torch.Tensor, b: torch.Tensor, relative: float, absolute: float) -> bool:
    """Whether two tensors of a shape are close; NaN is close to NaN."""
    for left, right in pieces(dense(a), dense(b)):
        one, other = wide(left), wide(right.to(left.device))
        near = torch.isclose(one, other, rtol=relative, atol=absolute, equal_nan=True)
        if not bool(near.all()):
            return False
    return True


def epsilon(dtype: torch.dtype) -> float:
    """The distance from 1 to the next number; 0 for a dtype without fractions."""
    if dtype.is_complex:
        dtype = dtype.to_real()
    return torch.finfo(dtype).eps if dtype.is_floating_point else 0.0


@dataclass
class FloatCase:
    """A tensor with fractions: how far eager and compiled are from the reference.

    Runs that are rounded at random may be added: how far rounding alone leads, of which eager is
    only one example.
    """

    eager: torch.Tensor
    compiled: torch.Tensor
    truth: torch.Tensor
    of_eager: Distance = field(init=False)
    of_compiled: Distance = field(init=False)
    astray: torch.Tensor | None = field(init=False)
    overflows: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.of_eager = distance(self.eager, self.truth, FLOOR_ULPS)
        self.of_compiled = distance(self.compiled, self.truth, FLOOR_ULPS)
        self.largest = self.of_eager.errors.max_abs
        self.rms = self.of_eager.rms
        self.astray = self._astray()
        # A dtype too small for the program's numbers: which ones overflow, rounding decides.
        self.overflows = self.astray is not None and _overflows(self.eager, self.truth)

    def learn(self, rounded: torch.Tensor, counts: float = 1.0) -> None:
        """Takes what a run rounded at random gave.

        Args:
            rounded: The tensor.
            counts: How much of its distance to take.
        """
        largest, rms = spread(rounded, self.truth)
        self.largest = max(self.largest, counts * largest)
        self.rms = max(self.rms, counts * rms)
        if self.astray is not None:
            self.astray &= _classes(rounded) != _classes(self.compiled)
            self.overflows = self.overflows or _overflows(rounded, self.truth)

    @property
    def within(self) -> bool:
        """Whether rounding explains compiled's distance."""
        return self.lost == 0 and self.times <= 1.0

    @property
    def lost(self) -> int:
        """Positions that are NaN or infinite where nothing else is, or the other way round."""
        return 0 if self.astray is None or self.overflows else int(self.astray.sum())

    @property
    def times(self) -> float:
        """How many times the most that rounding explains compiled is away."""
        floor = FLOOR_ULPS * epsilon(self.eager.dtype) * self.of_compiled.truth_rms
        most = FACTOR * self.largest + floor, FACTOR * self.rms + floor
        off = self.of_compiled.excess, self.of_compiled.rms
        return max(_ratio(*pair) for pair in zip(off, most, strict=True))

    def sensitive(self, lowest: float) -> bool:
        """Whether eager itself is far from the reference.

        Args:
            lowest: The coarsest epsilon that the graph computes with.
        """
        if self.of_eager.errors.nan + self.of_eager.errors.inf:
            return True
        bound = min(SENSITIVE_ULPS * max(lowest, epsilon(self.eager.dtype)), 0.5)
        size = self.of_eager.truth_rms
        # Beyond that the reference is 0 but for rounding, as the gradient of a bias before a
        # softmax is, and that says nothing of the graph.
        return bound * size < self.of_eager.rms <= NOTHING * size

    def _astray(self) -> torch.Tensor | None:
        if self.of_eager.finite and self.of_compiled.finite:
            return None
        kinds = [_classes(v) for v in (self.eager, self.compiled, self.truth)]
        astray = (kinds[1] != kinds[0]) & (kinds[1] != kinds[2])
        # A number beyond what the dtype resolves, and eager all wrong: a singular matrix.
        truth, eager = wide(dense(self.truth)).abs(), wide(dense(self.eager))
        unresolved = truth * epsilon(self.eager.dtype) >= 1
        wrong = ~((eager - wide(dense(self.truth))).abs() <= 0.9 * truth)
        return astray & ~(unresolved & wrong)


@dataclass
class ExactCase:
    """A tensor of integers or booleans: exact, except where rounding decides.

    An element may be what the reference has, or lie between values that rounding leads to.
    """

    eager: torch.Tensor
    compiled: torch.Tensor
    truth: torch.Tensor

    def __post_init__(self) -> None:
        self.low, self.high = dense(self.eager).clone(), dense(self.eager).clone()
        self.learn(self.truth)

    def learn(self, rounded: torch.Tensor, _: float = 1.0) -> None:
        """Takes what a run rounded at random gave."""
        value = dense(rounded).to(self.low.dtype)
        if value.shape != self.low.shape:
            return
        self.low = torch.where(_less(value, self.low), value, self.low)
        self.high = torch.where(_less(self.high, value), value, self.high)

    @property
    def outside(self) -> int:
        """Elements that rounding does not explain."""
        value = dense(self.compiled)
        return int((_less(value, self.low) | _less(self.high, value)).sum())

    @property
    def within(self) -> bool:
        """Whether rounding explains all."""
        return self.outside == 0


def _overflows(value: torch.Tensor, truth: torch.Tensor) -> bool:
    special, true = (_classes(v) != 0 for v in (value, truth))
    return bool((special & ~true).any())


def _less(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.dtype == torch.bool:
        return ~a & b
    if a.dtype in (torch.uint16, torch.uint32):  # no comparison on torch 2.11
        return a.to(torch.int64) < b.to(torch.int64)
    if a.dtype == torch.uint64:
        return a.to(torch.float64) < b.to(torch.float64)
    return a < b


def _classes(value: torch.Tensor) -> torch.Tensor:
    """0 where finite, 1 where NaN, 2 and 3 where infinite."""
    made = wide(dense(value))
    if made.is_complex():
        parts = _classes(torch.view_as_real(made))
        return parts[..., 0] * 4 + parts[..., 1]
    return torch.isnan(made).to(torch.uint8) + 2 * (made == torch.inf) + 3 * (made == -torch.inf)


def _ratio(value: float, most: float) -> float:
    if value <= most:
        return value / most if most else 0.0
    return value / most if most else float("inf")
