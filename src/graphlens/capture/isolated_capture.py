"""One capture beside the user's state: of a function as it is, or with something changed."""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import torch

from graphlens._torch.isolation import isolated_compilation, isolation_keywords
from graphlens._torch.settings import changed_settings, mark_dynamic
from graphlens.capture.backend import compile_graph
from graphlens.capture.eager_operators import OperatorsOutsideGraphs
from graphlens.capture.input_copies import copied_inputs
from graphlens.capture.options import LensOptions
from graphlens.capture.reachable import reachable
from graphlens.capture.recorder import Recorder
from graphlens.capture.state import kept_random_state, kept_state
from graphlens.model import Note, Report

Calls = Sequence[tuple[tuple[Any, ...], dict[str, Any]]]
Marker = Callable[[tuple[Any, ...], dict[str, Any]], Any]


@dataclass(frozen=True)
class Change:
    """What a capture does differently.

    Attributes:
        settings: Of ``torch._dynamo.config``, by name.
        functions: Functions that are added to sets among these settings, by name.
        keywords: For ``torch.compile``.
        marks: Each finds a tensor among the arguments of a call, with the dimension that varies.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, frozenset[Callable[..., Any]]] = field(default_factory=dict)
    keywords: Mapping[str, Any] = field(default_factory=dict)
    marks: Sequence[tuple[Marker, int]] = ()


NO_CHANGE = Change()


def captured(
    target: Callable[..., Any],
    calls: Calls,
    options: LensOptions,
    keywords: Mapping[str, Any],
    change: Change = NO_CHANGE,
    inner_keywords: Mapping[str, Any] | None = None,
) -> Report:
    """The report of calls that are made only to look.

    The calls get copies of their tensors; random states, gradients, and the buffers and tensors in
    reach are put back, and Dynamo's memory is left as it was.

    Args:
        target: A function or module, not compiled.
        calls: Arguments and keyword arguments of each call.
        options: Ours.
        keywords: For ``torch.compile``.
        change: What is different from that.
        inner_keywords: ``mode`` and ``options`` for the inner backend.

    Raises:
        BaseException: Whatever the function raises; the report so far is its
            ``graphlens_report``.
    """
    outside = OperatorsOutsideGraphs()

    def backend(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return outside.left_out(compile_graph(gm, inputs, options, dict(inner_keywords or {})))

    recorder = Recorder(thread=threading.get_ident())
    notes: list[Note] = []
    try:
        with (
            kept_random_state(),
            kept_state(reachable(target, calls), notes),
            isolated_compilation(lambda used: used is backend),
            changed_settings(change.settings, change.functions),
        ):
            every = {**isolation_keywords(), **keywords, **change.keywords}
            compiled: Any = torch.compile(target, backend=backend, **every)
            recorder.start()
            with contextlib.ExitStack() as stack:
                stack.callback(recorder.stop)
                for args, kwargs in calls:
                    args, kwargs = copied_inputs(args, kwargs, notes)
                    for find, dimension in change.marks:
                        mark_dynamic(find(args, kwargs), dimension)
                    with outside.counted():
                        compiled(*args, **kwargs)
    except BaseException as error:
        error.graphlens_report = _report(recorder, notes, outside)  # type: ignore[attr-defined]
        raise
    return _report(recorder, notes, outside)


def _report(recorder: Recorder, notes: list[Note], outside: OperatorsOutsideGraphs) -> Report:
    report = recorder.report()
    if not (report.frames or report.graphs):
        notes = [*notes, _NOTHING_CAPTURED]
    notes = [*report.notes, *notes]
    return msgspec.structs.replace(report, notes=tuple(notes), eager=outside.found())


_NOTHING_CAPTURED = Note(
    code="nothing-captured",
    message="Dynamo was not asked to compile anything in this call, so there is nothing to show.",
    hint=(
        "Either the function runs no torch operation on tensors, or compilation is off "
        "(TORCHDYNAMO_DISABLE, torch.compiler.set_stance, torch.compiler.disable), or torch gave "
        "up on the function earlier in this process, or the call was made inside compiled code."
    ),
)
