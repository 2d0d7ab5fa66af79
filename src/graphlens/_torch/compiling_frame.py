"""The frame that torch is compiling, seen from inside of a handler of its log.

Torch's records name a function by its first line only. While they are logged, the call is still
under way, and its function, arguments and caller are in reach. Seen on torch 2.11, 2.13 and 2.14.
"""

import inspect
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

import torch

from graphlens._torch.probes import probe
from graphlens.analysis.places import is_library


def frame_facts() -> dict[str, Any]:
    """What is known of a frame while torch logs that it begins to compile it.

    Returns:
        ``limit``: how many compilations torch keeps of it; ``names``: sources of arguments by the
        name the user gave them; ``arguments`` and ``closure``: names of the function's parameters
        and free variables; ``caller``: file, line and function of the user's line that called it,
        which torch's own stack lacks where a plain function was called; ``callee``: name, file and
        line of an object that Dynamo calls through a wrapper of its own.
    """
    frame = compiling_frame()
    if frame is None:
        return {"limit": recompile_limit()}
    code = frame.f_locals["code"]
    wrapped = _wrapped(frame.f_locals)
    return {
        "limit": recompile_limit(),
        "names": _argument_names(wrapped),
        "callee": _callee(wrapped),
        "arguments": list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]),
        "closure": list(code.co_freevars),
        "caller": _caller(frame, code),
    }


def _caller(frame: FrameType, code: CodeType) -> list[Any]:
    above = frame.f_back
    while above is not None:
        if above.f_code is not code and not is_library(above.f_code.co_filename):
            return [above.f_code.co_filename, above.f_lineno, above.f_code.co_name]
        above = above.f_back
    return []


def recompile_limit() -> int:
    """How many compilations torch keeps of one function, as it is set now in this thread."""
    return int(torch._dynamo.config.recompile_limit)


def compiling_frame() -> FrameType | None:
    """Dynamo's own frame in which the present compilation runs; None outside of one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_compile" and code.co_filename.endswith("convert_frame.py"):
            return frame
        frame = frame.f_back
    return None


def _wrapped(known: Mapping[str, Any]) -> Any:
    """What Dynamo's wrapper around a module or object calls; None in any other frame."""
    is_wrapper = known["code"].co_filename.endswith("torch/_dynamo/external_utils.py")
    return known["locals"].get("fn") if is_wrapper else None


def _argument_names(wrapped: Any) -> dict[str, str]:
    """``args[0]`` of Dynamo's wrapper by the name that what it calls gives it."""
    if wrapped is None:
        return {}
    called = wrapped.forward if isinstance(wrapped, torch.nn.Module) else wrapped
    found = {"fn": type(wrapped).__name__}
    try:
        names = list(inspect.signature(called).parameters)
    except (TypeError, ValueError):
        return found
    return {**found, **{f"args[{index}]": name for index, name in enumerate(names)}}


def _callee(wrapped: Any) -> list[Any]:
    """Name, file and first line of what Dynamo's wrapper calls, where it is no module of torch."""
    called = (
        wrapped
        if inspect.isroutine(wrapped)
        else inspect.getattr_static(type(wrapped), "__call__", None)
    )
    code = getattr(called, "__code__", None)
    if wrapped is None or code is None or isinstance(wrapped, torch.nn.Module):
        return []
    name = called.__qualname__ if called is wrapped else type(wrapped).__name__
    return [name, code.co_filename, code.co_firstlineno]


@probe("the frame that is compiled", seen_on="2.11, 2.13, 2.14")
def _probe_compiling_frame() -> str:
    from torch._dynamo.convert_frame import _compile

    missing = {"code", "globals", "locals"} - set(inspect.signature(_compile).parameters)
    if missing:
        raise TypeError(f"torch._dynamo's _compile has no {', '.join(sorted(missing))}")
    return f"recompile limit {recompile_limit()}"
