"""What a comparison found, put where it belongs in a report."""

from collections.abc import Mapping, Sequence

import msgspec

from graphlens.model import VERDICTS, Accuracy, Graph, Report, TensorAccuracy, Timing, Unavailable

# Parts of a timing by the stage of the graph that they are of.
_PARTS = {
    "dynamo": ("training", "inference", "forward"),
    "forward": ("forward",),
    "backward": ("backward",),
    "inference": ("inference",),
}
_NOT_RUN = Unavailable("the program did not run this graph")
_NO_BACKWARD = Unavailable("no backward pass was compared")


def with_accuracies(report: Report, accuracies: Mapping[str, Accuracy]) -> Report:
    """A report with each graph's accuracy.

    Args:
        report: Of the same run.
        accuracies: Of Dynamo graphs, by compile id. A lowered graph has the part of it that it
            computes.
    """
    graphs = tuple(
        msgspec.structs.replace(graph, accuracy=_of_stage(graph, accuracies[graph.compile_id]))
        if graph.compile_id in accuracies and not graph.discarded
        else graph
        for graph in report.graphs
    )
    return msgspec.structs.replace(report, graphs=graphs)


def _of_stage(graph: Graph, whole: Accuracy) -> Accuracy | Unavailable:
    if graph.stage == "dynamo" or not whole.tensors:
        return whole
    own = [one for one in whole.tensors if (one.role == "gradient") == (graph.stage == "backward")]
    if not own:
        return _NO_BACKWARD if graph.stage == "backward" else _NOT_RUN
    verdict = _worst(own)
    if verdict != "agrees" and whole.verdict in ("precision_changed", "not_comparable"):
        verdict = whole.verdict
    here = whole.first_divergence
    part = "backward" if graph.stage == "backward" else "forward"
    elsewhere = here is not None and not isinstance(here, Unavailable) and here.part != part
    return msgspec.structs.replace(
        whole,
        verdict=verdict,
        reason="" if verdict == "agrees" else _reason(own, verdict) or whole.reason,
        tensors=tuple(own),
        first_divergence=None if elsewhere or verdict != "diverges" else here,
        casts=whole.casts if verdict == "precision_changed" else (),
        tried=whole.tried if verdict != "agrees" else (),
        origin="" if verdict == "agrees" else whole.origin,
    )


def _reason(own: Sequence[TensorAccuracy], verdict: str) -> str:
    return next((f"{one.name}: {one.reason}" for one in own if one.verdict == verdict), "")


def _worst(tensors: Sequence[TensorAccuracy]) -> str:
    return max((one.verdict for one in tensors), key=VERDICTS.index)


def with_timings(report: Report, timings: Mapping[str, Sequence[Timing]]) -> Report:
    """A report with each graph's timing.

    Args:
        report: Of the same run.
        timings: Of Dynamo graphs, by compile id, one for each part.
    """
    graphs = tuple(
        msgspec.structs.replace(graph, timing=_timing_of(graph, timings[graph.compile_id]))
        if graph.compile_id in timings and not graph.discarded
        else graph
        for graph in report.graphs
    )
    return msgspec.structs.replace(report, graphs=graphs)


def _timing_of(graph: Graph, timings: Sequence[Timing]) -> Timing | Unavailable:
    for part in _PARTS[graph.stage]:
        for timing in timings:
            if timing.part == part:
                return msgspec.structs.replace(timing, graph=graph.id)
    return Unavailable(f"the {graph.stage} pass was not timed")
