"""The accuracy of one graph: over its calls, with random numbers told from faults, and located."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec
import torch

from graphlens._torch.failing_node import failing_node
from graphlens.capture.module_stack import module_calls
from graphlens.capture.reader import node_source, node_target
from graphlens.checks.added_casts import added_cast
from graphlens.checks.call_accuracy import call_accuracy, precision_reason, truth_of
from graphlens.checks.compare_options import CompareOptions
from graphlens.checks.graph_calls import CompiledFn, GraphCall, WatchedGraph, run
from graphlens.checks.judge import judge
from graphlens.checks.locate import locate
from graphlens.checks.random_nodes import Unsteady, unsteady
from graphlens.checks.reference import reference
from graphlens.model import (
    VERDICTS,
    Accuracy,
    Divergence,
    Graph,
    SwitchTried,
    TensorAccuracy,
    Unavailable,
)

_GUARD = Unavailable(
    "no operator is wrong: a guard is missing on what differs between the calls, such as inputs "
    "that share memory"
)
Progress = Callable[[str], None]

# Inductor draws random numbers from a generator of its own; with it, from eager's.
FALLBACK_RANDOM = {"fallback_random": True}
# A part of a graph is not in any report.
_NO_DATA = Graph(id="", compile_id="", stage="dynamo", nodes=())
_FALLBACK_CODE = "torch._inductor.config.fallback_random = True"


def graph_accuracy(
    watched: WatchedGraph, options: CompareOptions, progress: Progress = lambda _: None
) -> Accuracy:
    """The verdict on a graph.

    Args:
        watched: The graph, with its calls.
        options: Whether backward passes count, and what diverges is located.
        progress: Told what is going on.
    """
    if watched.error is not None:
        return _not_compiled(watched)
    if watched.compiled is None or not watched.calls:
        return Accuracy(verdict="not_comparable", reason="the program did not run it", calls=0)
    found = [
        _of_call(watched, watched.compiled, call, number, options)
        for number, call in enumerate(watched.calls)
    ]
    worst = max(found, key=lambda one: VERDICTS.index(one.accuracy.verdict))
    made = _together([one.accuracy for one in found], worst.accuracy)
    if made.verdict != "diverges":
        return made
    made = msgspec.structs.replace(made, origin=_backend_name(watched))
    if not options.locate:
        return msgspec.structs.replace(
            made, first_divergence=Unavailable("not looked for; compare(..., locate=True) does")
        )
    here = locate(worst.watched, worst.call, comparer(options), progress)
    if isinstance(here, Unavailable) and worst.call is not watched.calls[0]:
        reason = (
            f"{made.reason}; it was compiled for another call, and is right compiled for this one"
        )
        return msgspec.structs.replace(made, first_divergence=_GUARD, reason=reason)
    made = msgspec.structs.replace(made, first_divergence=here)
    return made if isinstance(here, Unavailable) else _with_added_cast(worst, made, here)


def _with_added_cast(found: "_Found", made: Accuracy, here: Divergence) -> Accuracy:
    """The precision was changed where a rounding at the first operator explains all there is."""
    compiled = found.watched.compiled
    if here.part != "forward" or compiled is None:
        return made
    eager, again = (run(gm, found.call, False) for gm in (found.watched.gm, compiled))
    cast = added_cast(found.watched, found.call, here.node, eager, again)
    if cast is None:
        return made
    return msgspec.structs.replace(
        made,
        verdict="precision_changed",
        casts=(cast,),
        tried=(*made.tried, *here.tried),
        reason=precision_reason((cast,), ()),
    )


@dataclass(frozen=True)
class _Found:
    """The accuracy of a call, and the graph and call to look at for where it is lost."""

    accuracy: Accuracy
    watched: WatchedGraph
    call: GraphCall


def _of_call(
    watched: WatchedGraph,
    compiled: CompiledFn,
    call: GraphCall,
    number: int,
    options: CompareOptions,
) -> _Found:
    truth = truth_of(watched, call, options.backward)
    eager = run(watched.gm, call, options.backward)
    made = run(compiled, call, options.backward)
    accuracy = call_accuracy(watched, call, eager, made, number=number, truth=truth)
    del truth, made
    if accuracy.verdict != "diverges" or eager.error is not None:
        return _Found(accuracy, watched, call)
    steady = unsteady(watched.gm, call, eager, options.backward)
    if not steady.repeats:
        return _Found(_changing(watched, accuracy, steady), watched, call)
    if steady.random and watched.graph.inner_backend == "inductor":
        return _of_random(watched, call, number, options, accuracy, steady)
    return _Found(accuracy, watched, call)


def _changing(watched: WatchedGraph, accuracy: Accuracy, steady: Unsteady) -> Accuracy:
    """Eager itself gives other results each time."""
    where = _place(watched.gm, steady.changing) if steady.changing else "in the backward pass"
    return _not_comparable(accuracy, f"two runs in eager differ, first {where}")


def _of_random(
    watched: WatchedGraph,
    call: GraphCall,
    number: int,
    options: CompareOptions,
    accuracy: Accuracy,
    steady: Unsteady,
) -> _Found:
    """Compared again with eager's random numbers: all else must then be right."""
    same = _with_overrides(watched, FALLBACK_RANDOM)
    try:
        with call.around.restored():
            compiled = same.compile(same.gm, call.fresh())
    except Exception as error:  # noqa: BLE001  then there is no such comparison
        switch = SwitchTried(code=_FALLBACK_CODE, verdict="not_comparable", helps=False)
        reason = f"{_draws(watched, steady)}; with eager's it does not compile ({error})"
        return _Found(_not_comparable(accuracy, reason, accuracy, switch), watched, call)
    truth = truth_of(same, call, options.backward)
    eager = run(watched.gm, call, options.backward)
    made = run(compiled, call, options.backward)
    again = call_accuracy(same, call, eager, made, number=number, truth=truth)
    if again.verdict == "diverges":
        reason = f"also with eager's random numbers ({_FALLBACK_CODE}): {again.reason}"
        return _Found(msgspec.structs.replace(again, reason=reason), same, call)
    switch = SwitchTried(code=_FALLBACK_CODE, verdict=again.verdict, helps=True)
    reason = f"{_draws(watched, steady)}; with eager's numbers all else agrees"
    return _Found(_not_comparable(accuracy, reason, again, switch), watched, call)


def _not_comparable(
    accuracy: Accuracy, reason: str, known: Accuracy | None = None, *tried: SwitchTried
) -> Accuracy:
    """What diverges cannot be judged; all else is as known, by itself or from a better run."""
    known = known or accuracy
    return msgspec.structs.replace(
        known,
        verdict="not_comparable",
        reason=reason,
        tried=(*known.tried, *tried),
        tensors=_with_verdict(accuracy.tensors, "not_comparable"),
    )


def _draws(watched: WatchedGraph, steady: Unsteady) -> str:
    more = f" and {len(steady.random) - 1} more" if steady.random[1:] else ""
    first = _place(watched.gm, steady.random[0])
    return (
        f"it draws random numbers, first {first}{more}, and Inductor takes them from a generator "
        "of its own"
    )


def _place(gm: torch.fx.GraphModule, name: str) -> str:
    node = next((one for one in gm.graph.nodes if one.name == name), None)
    source = node_source(node)[0] if node is not None else None
    return f"at `{name}`" + (f" (line {source.line})" if source else "")


def _with_verdict(tensors: Sequence[TensorAccuracy], verdict: str) -> tuple[TensorAccuracy, ...]:
    return tuple(
        msgspec.structs.replace(one, verdict=verdict) if one.verdict == "diverges" else one
        for one in tensors
    )


def _with_overrides(watched: WatchedGraph, changed: Mapping[str, object]) -> WatchedGraph:
    """The same graph, compiled with some settings changed."""

    def compile_again(
        gm: torch.fx.GraphModule,
        inputs: Sequence[Any],
        overrides: Mapping[str, Any] = MappingProxyType({}),
    ) -> CompiledFn:
        return watched.compile(gm, inputs, {**changed, **overrides})

    return dataclasses.replace(watched, compile=compile_again)


def _together(found: Sequence[Accuracy], worst: Accuracy) -> Accuracy:
    """One accuracy of several calls: the worst, with the tensors of all, worst first."""
    tensors = [tensor for one in found for tensor in one.tensors]
    tensors.sort(key=lambda one: -VERDICTS.index(one.verdict))
    return msgspec.structs.replace(
        worst,
        tensors=tuple(tensors),
        calls=len(found),
        remarks=tuple(dict.fromkeys(text for one in found for text in one.remarks)),
    )


def comparer(
    options: CompareOptions,
) -> Callable[[torch.fx.GraphModule, CompiledFn, GraphCall], Sequence[TensorAccuracy]]:
    """Compares a part of a graph, for `locate` and for scripts that reproduce."""

    def compare(
        gm: torch.fx.GraphModule, compiled: CompiledFn, call: GraphCall
    ) -> Sequence[TensorAccuracy]:
        part = WatchedGraph(_NO_DATA, gm, compiled, lambda *_: compiled)
        eager = run(gm, call, options.backward)
        made = run(compiled, call, options.backward)
        with call.as_held():
            truth, _ = reference(gm, call, options.backward)
        return judge(part, call, eager, made, truth if truth.error is None else None)

    return compare


def _not_compiled(watched: WatchedGraph) -> Accuracy:
    error = watched.error
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    node = failing_node(error) if isinstance(error, Exception) else None
    return Accuracy(
        verdict="diverges",
        reason=f"eager runs it, and the backend raises {said}",
        calls=0,
        origin=_backend_name(watched),
        first_divergence=Unavailable("the error names no operator")
        if node is None
        else Divergence(
            node=node.name,
            operator=node_target(node),
            source=node_source(node)[0],
            called_from=node_source(node)[1],
            modules=module_calls(node),
            culprit="lowering" if _backend_name(watched) == "inductor" else "",
            because=f"the backend raises {said}",
        ),
    )


def _backend_name(watched: WatchedGraph) -> str:
    name = watched.graph.inner_backend
    return "" if isinstance(name, Unavailable) else name
