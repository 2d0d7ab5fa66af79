"""The error that ends a compilation, seen while torch logs the compilation's metrics.

Torch 2.11, 2.13 and 2.14 log the metrics while the error is on its way to the caller, and with it
the user's stack, which no record of the trace has.
"""

import inspect
import sys
import traceback
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


@probe("the user's stack in errors of Dynamo", seen_on="2.11, 2.13, 2.14")
def _probe_real_stack() -> str:
    from torch._dynamo.exc import Unsupported

    if "real_stack" not in inspect.signature(Unsupported.__init__).parameters:
        raise TypeError("torch._dynamo.exc.Unsupported has no real_stack")
    return "Unsupported.real_stack"
