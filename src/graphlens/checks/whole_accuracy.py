"""Whether a whole program, compiled, gives what eager gives; and where it begins not to."""

from collections.abc import Mapping, Sequence

import msgspec

from graphlens.checks.capture_faults import GUARD_MISSING, capture_fault
from graphlens.checks.disagreements import Again, Found, setting_tried, told
from graphlens.checks.program_results import CallResult
from graphlens.checks.result_differences import Differences, differences
from graphlens.model import Accuracy, Divergence, SwitchTried, Unavailable
from graphlens.model.accuracy import VERDICTS

_REFERENCE = "eager: a whole program has no float64 reference; its graphs have"
# With it, gradients that a program computes itself are captured too (torch 2.13 and 2.14).
TRACE_GRADIENTS = "trace_autograd_ops"
_DOUBLE_BACKWARD = "does not currently support double backward"


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
        casts=why.casts,
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
    results = again.with_backend("eager")
    captured = differences(eager, results)
    if captured.places & found.places:
        return capture_fault(captured, results, eager, again)
    if backend != "aot_eager":
        lowered = differences(eager, again.with_backend("aot_eager"))
        if lowered.places & found.places:
            return _of_autograd(lowered, eager, again)
    return _of_backend(found, graphs, backend)


def _of_autograd(lowered: Differences, eager: Sequence[CallResult], again: Again) -> Found:
    """The program is right as captured, and not with AOTAutograd, whose graphs ran in eager."""
    said = told(lowered.wrong)
    anew = again.each_call_anew("aot_eager")
    if not isinstance(anew, Unavailable) and not differences(eager, anew).wrong:
        return Found("diverges", f"{GUARD_MISSING}: {said}", "autograd")
    if any(_DOUBLE_BACKWARD in one.reason for one in lowered.wrong):
        traced = again.with_setting(TRACE_GRADIENTS, True, "aot_eager")
        tried: tuple[SwitchTried, ...] = ()
        if not isinstance(traced, Unavailable):
            found = differences(eager, traced)
            tried = (setting_tried(f"{TRACE_GRADIENTS} = True", found),)
        reason = f"the program differentiates a gradient that compiled code gave: {said}"
        return Found("diverges", reason, "autograd", tried)
    reason = f"AOTAutograd's graphs, run in eager, give it too: {said}"
    return Found("diverges", reason, "autograd")


def _of_backend(found: Differences, graphs: Mapping[str, Accuracy], backend: str) -> Found:
    """The captured program is right: the worst of its graphs says what is wrong."""
    ranked = sorted(graphs.items(), key=lambda item: _RANK.index(item[1].verdict))
    said = told(found.wrong)
    if ranked and ranked[0][1].verdict != "agrees":
        name, worst = ranked[0]
        because = _seen(found, worst)
        reason = f"{name}: {because}" if because else said
        return Found(worst.verdict, reason, backend, worst.tried, worst.casts)
    if found.raises:
        return Found("diverges", said, backend)
    return Found(
        "diverges", f"each graph by itself agrees, and the program does not: {said}", backend
    )


def _seen(found: Differences, graph: Accuracy) -> str:
    """Why a graph is not right, by a tensor such as the program's that differ where it can be."""
    if graph.verdict != "rounding":
        return graph.reason
    roles = {one.role for one in found.wrong}
    fitting = (one for one in graph.tensors if one.verdict == "rounding" and one.role in roles)
    first = next(fitting, None)
    return graph.reason if first is None else f"{first.name}: {first.reason}"


_RANK = ("diverges", "precision_changed", "not_comparable", "rounding", "agrees")


def _first(graphs: Mapping[str, Accuracy]) -> Divergence | Unavailable | None:
    for one in graphs.values():
        if one.verdict == "diverges" and one.first_divergence is not None:
            return one.first_divergence
    return None
