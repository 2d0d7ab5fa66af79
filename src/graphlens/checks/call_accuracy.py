"""The accuracy of one call of one graph, all questions asked."""

from graphlens.checks.graph_calls import GraphCall, Outcome, WatchedGraph
from graphlens.checks.judge import graph_verdict, judge
from graphlens.checks.precision import precision_change
from graphlens.checks.reference import reference
from graphlens.checks.result_names import Names, names_in, remarks
from graphlens.model import Accuracy, CastChange, SwitchTried

Truth = tuple[Outcome, str]


def truth_of(watched: WatchedGraph, call: GraphCall, backward: bool = True) -> Truth:
    """What a call is measured against, and what that is; see `reference`."""
    with call.as_held():
        return reference(watched.gm, call, backward)


def call_accuracy(
    watched: WatchedGraph,
    call: GraphCall,
    eager: Outcome,
    compiled: Outcome,
    names: Names | None = None,
    number: int = 0,
    truth: Truth | None = None,
) -> Accuracy:
    """Compares what compiled code and eager gave for one call.

    Args:
        watched: The graph.
        call: That was made.
        eager: What eager gave.
        compiled: What compiled code gave.
        names: Of the results; None for those by the graph's metadata.
        number: Which call of the run.
        truth: What the reference gave, and what it is; None has it made here. Made before the
            others it needs less memory at once.
    """
    names = names or names_in(watched)
    outcome, kind = truth or truth_of(watched, call)
    # Eager measured against itself would make any difference a fault or none.
    usable = outcome if outcome.error is None else None
    tensors = judge(watched, call, eager, compiled, usable, names, number)
    verdict, reason = graph_verdict(tensors)
    casts, tried = precision_change(watched, call, eager, compiled, usable, verdict)
    if casts or any(switch.helps for switch in tried):
        verdict, reason = "precision_changed", precision_reason(casts, tried)
    return Accuracy(
        verdict=verdict,
        reason=reason,
        reference=kind,
        tensors=tuple(tensors),
        casts=casts,
        tried=tried,
        remarks=remarks(eager, compiled, names),
    )


def precision_reason(casts: tuple[CastChange, ...], tried: tuple[SwitchTried, ...]) -> str:
    """Why the precision was changed, in a sentence."""
    helping = next((switch.code for switch in tried if switch.helps), "")
    cure = f"; {helping} restores what eager gives" if helping else ""
    if not helping and tried:
        cure = f"; {tried[0].code} does not restore what eager gives"
    if not casts:
        return f"low-precision results are not rounded as in eager{cure}"
    first = casts[0]
    place = f" (line {first.source.line})" if first.source else ""
    more = f", and {len(casts) - 1} more," if len(casts) > 1 else ""
    done = "left out" if first.change == "removed" else "done, and the program does not ask for it"
    return f"the rounding to {first.dtype} by `{first.node}`{place}{more} is {done}{cure}"
