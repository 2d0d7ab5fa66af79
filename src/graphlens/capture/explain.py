"""``explain``: what Dynamo would do with a function, without generating code."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import torch

from graphlens._torch.dynamo import original_callable
from graphlens._torch.isolation import isolated_compilation, isolation_keywords
from graphlens.capture.backend import compile_graph
from graphlens.capture.options import LensOptions, lens_options
from graphlens.capture.recorder import Recorder
from graphlens.capture.state import (
    copied_inputs,
    kept_module_state,
    kept_random_state,
    modules_of,
)
from graphlens.errors import UsageError
from graphlens.model import Note, Report

COMPILE_KEYWORDS = ("dynamic", "fullgraph")


def explain(fn: Callable[..., Any], **options: Any) -> Callable[..., Report]:
    """Captures a function's graphs and the reasons for every break, and generates no code.

    The function runs, since what follows a break depends on it. It runs on copies of its tensor
    arguments; random states and module buffers are put back, Dynamo's memory is left as it was,
    and nothing of the user's is reset.

    Args:
        fn: A function or module, compiled or not.
        **options: ``dynamic`` and ``fullgraph`` as for ``torch.compile``; ``inner``, the backend
            that runs the graphs (default ``eager``; ``aot_eager`` gives the ATen graphs too).

    Returns:
        A function that takes the arguments of one call and returns the report.

    Raises:
        UsageError: ``fn`` is not callable, or an option is unknown.
    """
    if not callable(fn):
        raise UsageError(f"explain takes a function or module, not {type(fn).__name__}.")
    keywords = {name: options.pop(name) for name in COMPILE_KEYWORDS if name in options}
    lens = lens_options({"show": "none", "inner": "eager", **options})

    def call(*args: Any, **kwargs: Any) -> Report:
        return explain_calls(fn, [(args, kwargs)], lens, keywords)

    return call


def explain_calls(
    fn: Callable[..., Any],
    calls: Sequence[tuple[tuple[Any, ...], dict[str, Any]]],
    options: LensOptions,
    keywords: dict[str, Any],
) -> Report:
    """`explain` for several calls in order.

    Args:
        fn: A function or module, compiled or not.
        calls: Arguments and keyword arguments of each call.
        options: Ours.
        keywords: For ``torch.compile``.
    """
    target = original_callable(fn)

    def backend(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return compile_graph(gm, inputs, options, {})

    recorder = Recorder()
    with (
        kept_random_state(),
        kept_module_state(modules_of(target)) as changed,
        isolated_compilation(lambda used: used is backend),
    ):
        keywords = {**isolation_keywords(), **keywords}
        compiled: Any = torch.compile(target, backend=backend, **keywords)
        recorder.start()
        try:
            for args, kwargs in calls:
                args, kwargs = copied_inputs(args, kwargs)
                compiled(*args, **kwargs)
        except Exception as error:
            error.graphlens_report = recorder.report()  # type: ignore[attr-defined]
            raise
        finally:
            recorder.stop()
        report = recorder.report()
    return msgspec.structs.replace(report, notes=(*report.notes, *_changed_notes(changed)))


def _changed_notes(parameters: list[str]) -> tuple[Note, ...]:
    if not parameters:
        return ()
    names = ", ".join(parameters[:5]) + (", ..." if len(parameters) > 5 else "")
    return (
        Note(
            code="parameters-changed",
            message=f"The call changed parameters ({names}); they were not put back.",
            hint="Explain a function that does not update parameters.",
        ),
    )
