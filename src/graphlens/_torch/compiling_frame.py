"""The frame that torch is compiling, seen from inside of a handler of its log.

Torch's records name a function by its first line only. While they are logged, the call is still
under way, and its function, arguments and caller are in reach. Seen on torch 2.11, 2.13 and 2.14.
"""

import functools
import inspect
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

import torch

from graphlens._torch.probes import probe
from graphlens.analysis.places import is_library

# Free variables in which a wrapper, as `functools.wraps` is used, has the function it is for.
_WRAPPED = ("func", "fn", "forward", "f", "function", "wrapped", "method")


def frame_facts() -> dict[str, Any]:
    """What is known of a frame while torch logs that it begins to compile it.

    Returns:
        ``limit``: how many compilations torch keeps of it; ``names``: sources of arguments by the
        name the user gave them; ``arguments`` and ``closure``: names of the function's parameters
        and free variables; ``positional`` and ``keywords``: names of the tuple and the dict in
        which a wrapper takes what it hands on, the latter also of any other function; ``given``:
        the keyword arguments of this call there; ``caller``: file, line and function of the
        user's line that called it, which torch's own stack lacks where a plain function was
        called; ``callee``: name, file and line of an object that Dynamo calls through a wrapper of
        its own.
    """
    frame = compiling_frame()
    if frame is None:
        return {"limit": recompile_limit()}
    code: CodeType = frame.f_locals["code"]
    known: Mapping[str, Any] = frame.f_locals["locals"]
    positional, keywords = _collected(code)
    called = _wrapped(code, known)
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {
        "limit": recompile_limit(),
        "names": _argument_names(called, code, known) if called is not None else {},
        "callee": _callee(called) if _is_dynamos(code) else [],
        "arguments": [*named, *(name for name in (positional, keywords) if name)],
        "closure": list(code.co_freevars),
        "positional": "" if called is None else positional,
        "keywords": keywords,
        "given": [str(name) for name in known.get(keywords) or ()],
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


def _is_dynamos(code: CodeType) -> bool:
    return code.co_filename.endswith("torch/_dynamo/external_utils.py")


def _collected(code: CodeType) -> tuple[str, str]:
    """Names of ``*args`` and ``**kwargs``, each empty where the function has none."""
    names = list(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    positional = names.pop(0) if code.co_flags & inspect.CO_VARARGS else ""
    return positional, names[0] if code.co_flags & inspect.CO_VARKEYWORDS else ""


def _wrapped(code: CodeType, known: Mapping[str, Any]) -> Any:
    """What a wrapper hands its arguments to; None in any other frame."""
    if _is_dynamos(code):
        return known.get("fn")
    positional, keywords = _collected(code)
    if not positional or not keywords:
        return None
    for name in _WRAPPED:
        held = known.get(name) if name in code.co_freevars else None
        if inspect.isroutine(held) or isinstance(held, torch.nn.Module):
            return held
    first = known.get(code.co_varnames[0]) if code.co_argcount else (known[positional] or (0,))[0]
    forward = getattr(type(first), "forward", None) if isinstance(first, torch.nn.Module) else None
    layer = forward
    while layer is not None and getattr(layer, "__code__", None) is not code:
        layer = getattr(layer, "__wrapped__", None)
    return forward if hasattr(layer, "__wrapped__") else None


def _argument_names(called: Any, code: CodeType, known: Mapping[str, Any]) -> dict[str, str]:
    """``args[0]`` of a wrapper by the name that what it calls gives it."""
    found: dict[str, str] = {}
    if _is_dynamos(code):
        found["fn"] = getattr(_user_object(called), "__qualname__", type(called).__name__)
    if isinstance(called, functools.partial):
        bound = _positional(called.func, len(called.args))
        found.update({f"fn.args[{i}]": name for i, name in enumerate(bound)})
        found.update({f"fn.keywords['{name}']": name for name in called.keywords})
    collected, _ = _collected(code)
    own = code.co_argcount
    names = _positional(called, own + len(known.get(collected) or ()))
    found.update({f"{collected}[{i}]": name for i, name in enumerate(names[own:])})
    return found


def _positional(called: Any, count: int) -> list[str]:
    """Names for that many positional arguments; fewer where they are not known."""
    if isinstance(called, torch.nn.Module):
        called = called.forward
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return []
    names: list[str] = []
    for one in parameters:
        if one.kind is one.VAR_POSITIONAL:
            names += [f"{one.name}[{i}]" for i in range(max(0, count - len(names)))]
        elif one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            names.append(one.name)
    return names[:count]


def _user_object(called: Any) -> Any:
    while isinstance(called, functools.partial):
        called = called.func
    return called


def _callee(wrapped: Any) -> list[Any]:
    """Name, file and first line of what Dynamo's wrapper calls, where it is no module of torch."""
    wrapped = _user_object(wrapped)
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
