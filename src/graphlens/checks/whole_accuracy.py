"""Whether a whole program, compiled, gives what eager gives; and where it begins not to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from graphlens.checks.program_results import CallResult
from graphlens.checks.result_differences import Differences, differences
from graphlens.model import Accuracy, Divergence, SwitchTried, TensorAccuracy, Unavailable
from graphlens.model.accuracy import VERDICTS

_REFERENCE = "eager: a whole program has no float64 reference; its graphs have"
# Hooks added to a module after it was compiled are not noticed by default (torch 2.11 to 2.14).
HOOKS = "skip_nnmodule_hook_guards"


class Again(Protocol):
    """Runs the program again, from the same state."""

    def eager(self) -> list[CallResult]:
        """Without compiling."""
        ...

    def with_backend(self, name: str) -> list[CallResult]:
        """Compiled with another backend."""
        ...

    def each_call_anew(self) -> list[CallResult] | Unavailable:
        """Captured, without a backend, and from the start for each call."""
        ...

    def with_setting(self, name: str, value: object) -> list[CallResult]:
        """Captured, without a backend, with a setting of Dynamo changed."""
        ...

    def draws(self) -> tuple[bool, bool]:
        """Whether eager, and whether captured code, takes random numbers from torch."""
        ...


@dataclass(frozen=True)
class Found:
    """Why the program as a whole disagrees.

    Attributes:
        verdict: As ``Accuracy.verdict``.
        reason: Why.
        origin: As ``Accuracy.origin``.
        tried: Settings with which it was captured again.
    """

    verdict: str
    reason: str
    origin: str
    tried: tuple[SwitchTried, ...] = ()


def whole_accuracy(
    found: Differences,
    eager: Sequence[CallResult],
    graphs: Mapping[str, Accuracy],
    backend: str,
    again: Again,
) -> Accuracy:
    """The verdict on a program.

    Args:
        found: What differs between its calls in eager and compiled.
        eager: Its calls in eager; may be left out where nothing differs.
        graphs: What each graph by itself gave, by id.
        backend: That compiled it.
        again: Runs it in other ways, where that is needed to tell why it disagrees.
    """
    calls = len({one.call for one in found.tensors}) or len(eager)
    if not found.wrong:
        return Accuracy(
            verdict="agrees",
            reference=_REFERENCE,
            tensors=tuple(found.tensors),
            calls=calls,
            remarks=tuple(found.remarks),
        )
    why = _origin(found, eager, graphs, backend, again)
    verdict = why.verdict
    tensors = [
        one
        if one.verdict == "agrees"
        else msgspec.structs.replace(one, verdict=verdict, reason=one.reason or why.reason)
        for one in found.tensors
    ]
    tensors.sort(key=lambda one: -VERDICTS.index(one.verdict))
    return Accuracy(
        verdict=verdict,
        reason=why.reason,
        reference=_REFERENCE,
        tensors=tuple(tensors),
        calls=calls,
        origin=why.origin,
        tried=why.tried,
        remarks=tuple(found.remarks),
        first_divergence=_first(graphs) if why.origin not in ("capture", "") else None,
    )


def _origin(
    found: Differences,
    eager: Sequence[CallResult],
    graphs: Mapping[str, Accuracy],
    backend: str,
    again: Again,
) -> Found:
    captured = differences(eager, again.with_backend("eager"))
    if captured.places & found.places:
        return _of_capture(captured, eager, again)
    if backend != "aot_eager":
        lowered = differences(eager, again.with_backend("aot_eager"))
        if lowered.places & found.places:
            reason = f"AOTAutograd's graphs, run in eager, give it too: {_told(lowered.wrong)}"
            return Found("diverges", reason, "autograd")
    return _of_backend(found, graphs, backend)


def _of_capture(captured: Differences, eager: Sequence[CallResult], again: Again) -> Found:
    """The program as Dynamo captured it, run without any compiler, disagrees with eager."""
    told = _told(captured.wrong)
    twice = differences(eager, again.eager())
    if twice.places >= captured.places:
        return Found("not_comparable", f"two runs in eager differ too: {told}", "capture")
    in_eager, in_captured = again.draws()
    if in_captured and not in_eager:
        reason = (
            "captured code takes random numbers from torch's generator where eager takes them from "
            f"NumPy's or Python's, whose seed has no effect on compiled code: {told}"
        )
        return Found("not_comparable", reason, "capture")
    hooks = differences(eager, again.with_setting(HOOKS, False))
    code = f"torch._dynamo.config.{HOOKS} = False"
    tried = (_tried(code, hooks),)
    if not hooks.wrong:
        reason = f"a hook that was added to a module after it was compiled is not called: {told}"
        return Found("diverges", reason, "capture", tried)
    anew = again.each_call_anew()
    if not isinstance(anew, Unavailable) and not differences(eager, anew).wrong:
        reason = (
            "a guard is missing: the call ran what was compiled for another call, and is right "
            f"when it is compiled by itself: {told}"
        )
        return Found("diverges", reason, "capture")
    return Found("diverges", f"the program as Dynamo captured it gives it too: {told}", "capture")


def _of_backend(found: Differences, graphs: Mapping[str, Accuracy], backend: str) -> Found:
    """The captured program is right: the worst of its graphs says what is wrong."""
    ranked = sorted(graphs.items(), key=lambda item: _RANK.index(item[1].verdict))
    told = _told(found.wrong)
    if ranked and ranked[0][1].verdict != "agrees":
        name, worst = ranked[0]
        return Found(worst.verdict, f"{name}: {worst.reason}" if worst.reason else told, backend)
    if any("raise" in one.reason for one in found.wrong):
        return Found("diverges", told, backend)
    return Found(
        "diverges", f"each graph by itself agrees, and the program does not: {told}", backend
    )


_RANK = ("diverges", "precision_changed", "not_comparable", "rounding", "agrees")


def _first(graphs: Mapping[str, Accuracy]) -> Divergence | Unavailable | None:
    for one in graphs.values():
        if one.verdict == "diverges" and one.first_divergence is not None:
            return one.first_divergence
    return None


def _tried(code: str, found: Differences) -> SwitchTried:
    verdict = "diverges" if found.wrong else "agrees"
    return SwitchTried(code=code, verdict=verdict, helps=not found.wrong)


def _told(wrong: Sequence[TensorAccuracy]) -> str:
    first = wrong[0]
    more = f", and {len(wrong) - 1} more" if wrong[1:] else ""
    return f"call {first.call}, {first.name}: {first.reason}{more}"
