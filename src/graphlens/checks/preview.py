"""``preview``: the kernels that a GPU would run, on a machine without one."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch
from torch.utils import _pytree as pytree

from graphlens._torch.dynamo import original_callable
from graphlens.capture.isolated_capture import Calls
from graphlens.capture.saved_reports import saved
from graphlens.checks.preview_options import PreviewOptions, preview_options
from graphlens.checks.preview_report import Preview, Progress
from graphlens.checks.programs import UserProgram
from graphlens.errors import UnsupportedTorchError, UsageError
from graphlens.model import Report
from graphlens.model.presentation import presenter
from graphlens.progress import progress_bar


def preview(fn: Callable[..., Any], **options: Any) -> Callable[..., Report]:
    """Shows the Triton program that Inductor would generate for a GPU, without the GPU.

    The function runs in eager on copies of its arguments, with all state put back. For each graph,
    forward and backward, code is generated for the target and for the CPU; Triton's compiler makes
    machine code of each kernel, from which registers, spills and occupancy are known; and the
    program for the target is run on the CPU by Triton's interpreter and compared with eager.

    Args:
        fn: A function or module on the CPU, compiled or not.
        **options: See `PreviewOptions`; ``target`` is ``h100`` where it is not given.

    Returns:
        A function that takes the arguments of one call and returns the report.

    Raises:
        UsageError: ``fn`` is not callable, or an option is unknown or has a wrong value.
        UnsupportedTorchError: Triton is not installed.
        OutputError: A folder cannot be written.
    """
    if not callable(fn):
        raise UsageError(f"preview takes a function or module, not {type(fn).__name__}.")
    chosen = preview_options(options)
    require_triton()
    out = os.path.abspath(chosen.out) if chosen.out else ""
    if out:
        presenter().check_folder(out)

    def call(*args: Any, **kwargs: Any) -> Report:
        def make() -> Report:
            with progress_bar() as progress:
                return preview_calls(fn, [(args, kwargs)], chosen, progress)

        return saved(make, out)

    return call


def preview_calls(
    fn: Callable[..., Any],
    calls: Calls,
    options: PreviewOptions,
    progress: Progress | None = None,
) -> Report:
    """`preview` for several calls in order.

    Args:
        fn: A function or module, compiled or not.
        calls: Arguments and keyword arguments of each call.
        options: Checked ones.
        progress: Told what is going on, and the share of it that is done, 0 to 1.

    Raises:
        BaseException: What every call of the program raises; the report is its
            ``graphlens_report``.
    """
    check_on_cpu(fn, calls)
    program = UserProgram(original_callable(fn), calls, options.backward)
    return Preview(program, options, progress).report()


def check_on_cpu(fn: Callable[..., Any], calls: Calls) -> None:
    """Checks that a program's tensors are on the CPU, where it is traced.

    Raises:
        UsageError: One is not.
    """
    state = dict(fn.state_dict()) if isinstance(fn, torch.nn.Module) else {}
    for value in pytree.tree_leaves((list(calls), state)):
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            raise UsageError(
                f"preview takes a program on the CPU, and a tensor is on {value.device}. Move the "
                'model and its inputs there, such as with .to("cpu"); on a GPU that is there, '
                "graphlens.compare runs the program itself."
            )


def require_triton() -> None:
    """Checks that Triton is there.

    Raises:
        UnsupportedTorchError: It is not.
    """
    if find_spec("triton") is None:
        raise UnsupportedTorchError(
            "preview needs Triton, which generates code for GPUs. CUDA builds of torch bring it; "
            "beside a CPU build install the one of your torch: `pip install triton==3.6.*` for "
            "torch 2.11, 3.7 for 2.13, 3.8 for 2.14."
        )
