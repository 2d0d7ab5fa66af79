"""``explain``: what Dynamo would do with a function, without generating code."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import torch

from graphlens._torch.dynamo import original_callable
from graphlens._torch.isolation import isolated_compilation, isolation_keywords
from graphlens.capture.backend import compile_graph
from graphlens.capture.eager_operators import OperatorsOutsideGraphs
from graphlens.capture.input_copies import copied_inputs
from graphlens.capture.options import LensOptions, lens_options
from graphlens.capture.reachable import reachable
from graphlens.capture.recorder import Recorder
from graphlens.capture.state import kept_random_state, kept_state
from graphlens.errors import UsageError
from graphlens.model import Note, Report
from graphlens.model.presentation import presenter
from graphlens.suggestions import nearest_first

COMPILE_KEYWORDS = ("dynamic", "fullgraph")
OPTIONS = ("inner", "out", *COMPILE_KEYWORDS)

Calls = Sequence[tuple[tuple[Any, ...], dict[str, Any]]]


def explain(fn: Callable[..., Any], **options: Any) -> Callable[..., Report]:
    """Captures a function's graphs and the reasons for every break, and generates no code.

    The function runs, since what follows a break depends on it. It runs on copies of its tensor
    arguments; random states, gradients, and the buffers and tensors it can reach are put back,
    Dynamo's memory is left as it was, and nothing of the user's is reset. Parameters, optimizers
    and attributes that the call changed are named in a note.

    Args:
        fn: A function or module, compiled or not.
        **options: ``dynamic`` and ``fullgraph`` as for ``torch.compile``; ``inner``, the backend
            that runs the graphs (default ``eager``; ``aot_eager`` gives the ATen graphs too);
            ``out``, a folder to write the report to when a call ends.

    Returns:
        A function that takes the arguments of one call and returns the report.

    Raises:
        UsageError: ``fn`` is not callable, or an option is unknown.
        OutputError: The folder cannot be written.
    """
    if not callable(fn):
        raise UsageError(f"explain takes a function or module, not {type(fn).__name__}.")
    for name in options:
        if name not in OPTIONS:
            valid = nearest_first(name, OPTIONS)
            raise UsageError(f"Unknown option {name}. Valid, nearest first: {valid}.")
    keywords = {name: options[name] for name in COMPILE_KEYWORDS if name in options}
    lens = lens_options({"show": "none", "inner": options.get("inner", "eager")})
    # Absolute, as the function may change the current folder.
    out = os.path.abspath(os.fspath(options["out"])) if options.get("out") else ""
    if out:
        presenter().check_folder(out)

    def call(*args: Any, **kwargs: Any) -> Report:
        try:
            report = explain_calls(fn, [(args, kwargs)], lens, keywords)
        except BaseException as error:
            if out and hasattr(error, "graphlens_report"):
                presenter().save_report(error.graphlens_report, out + "/")
            raise
        if out:
            presenter().save_report(report, out + "/")
        return report

    return call


def explain_calls(
    fn: Callable[..., Any], calls: Calls, options: LensOptions, keywords: dict[str, Any]
) -> Report:
    """`explain` for several calls in order.

    Args:
        fn: A function or module, compiled or not.
        calls: Arguments and keyword arguments of each call.
        options: Ours.
        keywords: For ``torch.compile``.

    Raises:
        BaseException: Whatever the function raises; the report so far is its
            ``graphlens_report``.
    """
    target = original_callable(fn)
    outside = OperatorsOutsideGraphs()

    def backend(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return outside.left_out(compile_graph(gm, inputs, options, {}))

    recorder = Recorder(thread=threading.get_ident())
    notes: list[Note] = []
    try:
        with (
            kept_random_state(),
            kept_state(reachable(target, calls), notes),
            isolated_compilation(lambda used: used is backend),
        ):
            keywords = {**isolation_keywords(), **keywords}
            compiled: Any = torch.compile(target, backend=backend, **keywords)
            recorder.start()
            try:
                for args, kwargs in calls:
                    args, kwargs = copied_inputs(args, kwargs, notes)
                    with outside.counted():
                        compiled(*args, **kwargs)
            finally:
                recorder.stop()
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
