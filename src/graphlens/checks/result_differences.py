"""Two runs of a program side by side: every value that the caller can see."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from graphlens.checks.errors import comparable, dense, errors, short
from graphlens.checks.program_results import CallResult, Leaf
from graphlens.model import TensorAccuracy, Unavailable

_NO_REFERENCE = Unavailable("a whole program has no float64 reference; its graphs have")


@dataclass
class Differences:
    """What differs between eager and another run.

    Attributes:
        tensors: Compared, of all calls; a value that is no tensor is there where it differs.
        remarks: What differs besides values: strides, and types of what was returned.
        raises: Whether a call raises in only one of them, or raises another error.
    """

    tensors: list[TensorAccuracy] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    raises: bool = False

    @property
    def wrong(self) -> list[TensorAccuracy]:
        """Those that do not agree."""
        return [one for one in self.tensors if one.verdict != "agrees"]

    @property
    def places(self) -> set[tuple[int, str]]:
        """Call and name of those that do not agree."""
        return {(one.call, one.name) for one in self.wrong}


def differences(eager: Sequence[CallResult], other: Sequence[CallResult]) -> Differences:
    """Compares two runs, call by call; values as ``torch.testing.assert_close`` does.

    Args:
        eager: The calls in eager.
        other: The same calls, compiled in some way.
    """
    found = Differences()
    for number, (one, two) in enumerate(zip(eager, other, strict=True)):
        _compare_call(number, one, two, found)
    return found


def _compare_call(number: int, one: CallResult, two: CallResult, found: Differences) -> None:
    if type(one.error) is not type(two.error):
        found.raises = True
        found.tensors.append(_told(number, "the call", _errors_differ(one.error, two.error)))
        return
    if one.kind != two.kind:
        found.remarks.append(f"call {number} returns a {two.kind}, in eager a {one.kind}")
    theirs = {leaf.name: leaf for leaf in two.leaves}
    for leaf in one.leaves:
        other = theirs.pop(leaf.name, None)
        if other is None:
            reason = "missing when compiled"
            found.tensors.append(_told(number, leaf.name, reason, leaf.role))
            continue
        found.tensors += _compare(number, leaf, other)
        if leaf.stride != other.stride:
            found.remarks.append(
                f"call {number}, {leaf.name}: strides {other.stride}, in eager {leaf.stride}"
            )
        elif leaf.kind != other.kind and isinstance(leaf.value, torch.Tensor):
            found.remarks.append(
                f"call {number}, {leaf.name}: type {other.kind}, in eager {leaf.kind}"
            )
    for name, leaf in theirs.items():
        found.tensors.append(_told(number, name, "only there when compiled", leaf.role))


def _compare(number: int, eager: Leaf, other: Leaf) -> list[TensorAccuracy]:
    """The comparison of a value; empty for one that is no tensor and equal."""
    one, two = eager.value, other.value
    if isinstance(one, float) and isinstance(two, float):
        one, two = torch.tensor(one, dtype=torch.float64), torch.tensor(two, dtype=torch.float64)
    if not (isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor)):
        if type(one) is type(two) and one == two:
            return []
        return [_told(number, eager.name, f"{two!r} where eager gives {one!r}", eager.role)]
    reason = comparable(two, one)
    if reason:
        return [_told(number, eager.name, reason, eager.role)]
    between = errors(two, one)
    right = close(two, one)
    return [
        TensorAccuracy(
            name=eager.name,
            role=eager.role,
            shape=tuple(one.shape) if not one.is_nested else (),
            dtype=short(one.dtype),
            call=number,
            verdict="agrees" if right else "diverges",
            reason="" if right else f"differs by up to {between.max_abs:.3g}",
            eager=_NO_REFERENCE,
            compiled=_NO_REFERENCE,
            between=between,
        )
    ]


def close(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether ``torch.testing.assert_close`` takes them for equal, NaN included."""
    try:
        torch.testing.assert_close(dense(one), dense(two), equal_nan=True)
    except AssertionError:
        return False
    return True


def _errors_differ(one: BaseException | None, two: BaseException | None) -> str:
    if two is None:
        return f"eager raises {_said(one)}, and compiled does not"
    if one is None:
        return f"only compiled raises: {_said(two)}"
    return f"compiled raises {_said(two)}, where eager raises {_said(one)}"


def _said(error: Any) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _told(number: int, name: str, reason: str, role: str = "output") -> TensorAccuracy:
    missing = Unavailable(reason)
    return TensorAccuracy(
        name=name, role=role, shape=(), dtype="", call=number, verdict="diverges", reason=reason,
        eager=missing, compiled=missing, between=missing,
    )  # fmt: skip
