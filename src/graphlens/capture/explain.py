"""``explain``: what Dynamo would do with a function, without generating code."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from graphlens._torch.dynamo import original_callable
from graphlens.capture.isolated_capture import Calls, Change, captured
from graphlens.capture.option_values import only_known
from graphlens.capture.options import LensOptions, lens_options
from graphlens.capture.saved_reports import saved
from graphlens.capture.trials import Trials
from graphlens.errors import UsageError
from graphlens.model import Report
from graphlens.model.presentation import presenter

COMPILE_KEYWORDS = ("dynamic", "fullgraph")
OPTIONS = ("inner", "out", "try_advice", *COMPILE_KEYWORDS)


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
            ``out``, a folder to write the report to when a call ends; ``try_advice``, whether to
            capture again with each switch, annotation and rewrite that is advised, each time
            beside the user's state: the report then says what each of them gives, and leaves out
            those that do not help. The function runs once for each.

    Returns:
        A function that takes the arguments of one call and returns the report.

    Raises:
        UsageError: ``fn`` is not callable, or an option is unknown.
        OutputError: The folder cannot be written.
    """
    if not callable(fn):
        raise UsageError(f"explain takes a function or module, not {type(fn).__name__}.")
    only_known(options, OPTIONS)
    keywords = {name: options[name] for name in COMPILE_KEYWORDS if name in options}
    lens = lens_options({"show": "none", "inner": options.get("inner", "eager")})
    # Absolute, as the function may change the current folder.
    out = os.path.abspath(os.fspath(options["out"])) if options.get("out") else ""
    try_advice = bool(options.get("try_advice", False))
    if out:
        presenter().check_folder(out)

    def call(*args: Any, **kwargs: Any) -> Report:
        def make() -> Report:
            return explain_calls(fn, [(args, kwargs)], lens, keywords, try_advice)

        return saved(make, out)

    return call


def explain_calls(
    fn: Callable[..., Any],
    calls: Calls,
    options: LensOptions,
    keywords: dict[str, Any],
    try_advice: bool = False,
    inner_keywords: Mapping[str, Any] | None = None,
) -> Report:
    """`explain` for several calls in order.

    Args:
        fn: A function or module, compiled or not.
        calls: Arguments and keyword arguments of each call.
        options: Ours.
        keywords: For ``torch.compile``.
        try_advice: Whether to capture again with each fix.
        inner_keywords: ``mode`` and ``options`` for the inner backend.

    Raises:
        BaseException: Whatever the function raises; the report so far is its
            ``graphlens_report``.
    """
    target = original_callable(fn)
    report = captured(target, calls, options, keywords, inner_keywords=inner_keywords)
    if not try_advice:
        return report

    def capture(function: Callable[..., Any], change: Change) -> Report:
        return captured(function, calls, options, keywords, change, inner_keywords)

    return Trials(report, target, calls, capture).tried()
