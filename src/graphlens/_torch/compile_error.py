"""The error that ends a compilation, seen while torch logs the compilation's metrics.

Torch 2.11, 2.13 and 2.14 log the metrics while the error is on its way to the caller, and with it
the user's stack, which no record of the trace has.
"""

import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

from graphlens._torch.probes import probe


def error_facts() -> dict[str, Any]:
    """The user's stack in the error that is on its way, as Python writes tracebacks.

    Returns:
        ``stack``; nothing where no error of torch is on its way, or it has no stack.
    """
    error = sys.exc_info()[1]
    stack = getattr(error, "real_stack", None)
    return {"stack": "".join(traceback.format_list(stack))} if stack else {}


def user_place(error: BaseException) -> tuple[str, int] | None:
    """File and line of the program that an error of Dynamo is about, where it knows them."""
    stack = getattr(error, "real_stack", None)
    frame = stack[-1] if stack else getattr(error, "innermost_user_frame_summary", None)
    return None if frame is None else (frame.filename, frame.lineno)


def made_guards(error: BaseException) -> bool:
    """Whether Dynamo raised an error while it made guards."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(
        frame.name == "build_guards" and "torch" in Path(frame.filename).parts for frame in frames
    )


@probe("the user's stack in errors of Dynamo", seen_on="2.11, 2.13, 2.14")
def _probe_real_stack() -> str:
    from torch._dynamo.exc import Unsupported

    if "real_stack" not in inspect.signature(Unsupported.__init__).parameters:
        raise TypeError("torch._dynamo.exc.Unsupported has no real_stack")
    return "Unsupported.real_stack"
