"""What is said of a program that disagrees with eager, and the runs that it takes to say it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphlens.checks.program_results import CallResult
from graphlens.checks.result_differences import Differences
from graphlens.model import CastChange, SwitchTried, TensorAccuracy, Unavailable


class Again(Protocol):
    """Runs the program again, from the same state."""

    def eager(self) -> list[CallResult]:
        """Without compiling."""
        ...

    def with_backend(self, name: str) -> list[CallResult]:
        """Compiled with another backend."""
        ...

    def each_call_anew(self, backend: str = "eager") -> list[CallResult] | Unavailable:
        """Captured, and compiled with a backend, from the start for each call."""
        ...

    def with_setting(
        self, name: str, value: object, backend: str = "eager"
    ) -> list[CallResult] | Unavailable:
        """Captured, and compiled with a backend, with a setting of Dynamo changed."""
        ...

    def draws(self) -> tuple[bool, bool]:
        """Whether eager, and whether captured code, takes random numbers from torch."""
        ...

    def without_caches(self) -> tuple[list[CallResult], tuple[str, ...]]:
        """Eager without the caches of functions that only eager uses, and what those are."""
        ...

    def without_custom_backward(self) -> tuple[list[CallResult], tuple[str, ...]]:
        """Eager with the derivatives of forwards for custom backwards, and whose those are."""
        ...


@dataclass(frozen=True)
class Found:
    """Why the program as a whole disagrees.

    Attributes:
        verdict: As ``Accuracy.verdict``.
        reason: Why.
        origin: As ``Accuracy.origin``.
        tried: Settings with which it was run again.
        casts: As ``Accuracy.casts``.
    """

    verdict: str
    reason: str
    origin: str
    tried: tuple[SwitchTried, ...] = ()
    casts: tuple[CastChange, ...] = ()


def setting_tried(name: str, found: Differences) -> SwitchTried:
    """A setting of Dynamo with what still differed."""
    verdict = "diverges" if found.wrong else "agrees"
    code = f"torch._dynamo.config.{name}"
    return SwitchTried(code=code, verdict=verdict, helps=not found.wrong)


def told(wrong: Sequence[TensorAccuracy]) -> str:
    """The first value that differs, and how many more do."""
    first = wrong[0]
    more = f", and {len(wrong) - 1} more" if wrong[1:] else ""
    return f"call {first.call}, {first.name}: {first.reason}{more}"
