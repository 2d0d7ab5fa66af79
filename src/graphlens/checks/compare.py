"""``compare``: is compiled code right, is it faster, where not, and why."""

import os
from collections.abc import Callable
from typing import Any

from graphlens._torch.dynamo import original_callable
from graphlens.capture.isolated_capture import Calls
from graphlens.capture.saved_reports import saved
from graphlens.checks.compare_options import CompareOptions, compare_options
from graphlens.checks.comparison import Comparison, Progress
from graphlens.checks.programs import Program, UserProgram
from graphlens.errors import UsageError
from graphlens.model import Report
from graphlens.model.presentation import presenter
from graphlens.progress import progress_bar


def compare(fn: Callable[..., Any], **options: Any) -> Callable[..., Report]:
    """Compares a function compiled with the same function in eager: values, and seconds.

    The function is run in eager on copies, then compiled on the arguments themselves: what stays
    of the call is what a compiled call leaves. All else (more runs, each graph by itself, timing)
    is done on copies, with the state put back.

    Args:
        fn: A function or module, compiled or not.
        **options: See `CompareOptions`.

    Returns:
        A function that takes the arguments of one call and returns the report.

    Raises:
        UsageError: ``fn`` is not callable, or an option is unknown or has a wrong value.
        OutputError: A folder cannot be written.
    """
    if not callable(fn):
        raise UsageError(f"compare takes a function or module, not {type(fn).__name__}.")
    chosen = compare_options(options)
    out = os.path.abspath(chosen.out) if chosen.out else ""
    if out:
        presenter().check_folder(out)
    if chosen.repro:
        presenter().check_folder(chosen.repro)

    def call(*args: Any, **kwargs: Any) -> Report:
        def make() -> Report:
            with progress_bar() as progress:
                return compare_calls(fn, [(args, kwargs)], chosen, progress)

        return saved(make, out)

    return call


def compare_calls(
    fn: Callable[..., Any],
    calls: Calls,
    options: CompareOptions,
    progress: Progress | None = None,
) -> Report:
    """`compare` for several calls in order.

    Args:
        fn: A function or module, compiled or not.
        calls: Arguments and keyword arguments of each call.
        options: Checked ones.
        progress: Told what is going on, and the share of it that is done, 0 to 1.

    Raises:
        BaseException: What every call raises in eager too; the report is its ``graphlens_report``.
    """
    program = UserProgram(original_callable(fn), calls, options.backward)
    return compare_program(program, options, progress)


def compare_program(
    program: Program, options: CompareOptions, progress: Progress | None = None
) -> Report:
    """`compare` for anything that can be run several times from the same state."""
    return Comparison(program, options, progress).report()
