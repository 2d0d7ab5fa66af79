"""Where an operator was called from: the user's line, and what it called there."""

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from inspect import CO_NESTED
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from graphlens._torch.dispatch import is_compiled_graph, is_dynamos_own
from graphlens.analysis.places import is_graphlens, is_library

_RESUMED = re.compile(r"^torch_dynamo_resume_in_(.+)_at_\d+$")
# Leads to every module's forward and every operator, and says nothing.
_MACHINERY = re.compile(r".*/torch/(?:nn/modules/module|_ops|_dynamo/\w+)\.py$")
# With a dispatch mode, torch runs these where it runs nothing without (2.11, 2.13, 2.14): as
# autograd saves a result, and for numbers that become tensors. They are the program's own where
# the code that runs them names what leads to them.
_RUN_BY_TORCH = {
    "aten.detach.default": {"detach", "detach_", "data"},
    "aten.lift_fresh.default": {"tensor", "as_tensor", "asarray", "from_numpy"},
}


class OperatorPlace(NamedTuple):
    """A user's line and the library function it called; ``inside`` is empty for its own code."""

    file: str
    line: int
    function: str
    inside: str


def operator_place(operator: str, frame: FrameType | None) -> OperatorPlace | None:
    """The place to count an operator at; None for one that is no part of the program.

    That is the innermost line of the user's. A program without any, such as a library's model
    that the command line explains, has its innermost line instead.

    Args:
        operator: Its name, as ``aten.detach.default``.
        frame: That called it.
    """
    names = _RUN_BY_TORCH.get(operator)
    if frame is None or is_dynamos_own(frame):
        return None
    if names is not None and names.isdisjoint(frame.f_code.co_names):
        return None
    program: list[FrameType] = []
    in_program = True
    for caller in _outwards(frame):
        if not _is_library(caller.f_code.co_filename):
            return _place(caller, program)
        if program and is_compiled_graph(caller, program[-1]):
            return None
        # What led to GraphLens is none of the program, but its caller is a line of the user's.
        in_program = in_program and not is_graphlens(caller.f_code.co_filename)
        if in_program:
            program.append(caller)
    own = [inner for inner in program if not _MACHINERY.match(inner.f_code.co_filename)]
    return _place(own[0], []) if own else None


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _place(frame: FrameType, called: list[FrameType]) -> OperatorPlace:
    code = frame.f_code
    return OperatorPlace(code.co_filename, frame.f_lineno or 0, _name(code), _inside(called))


def _inside(called: list[FrameType]) -> str:
    """The outermost function of a library's among frames, innermost first.

    Wrappers that a decorator made are passed over where there is more inside.
    """
    frames = [f for f in called if not _MACHINERY.match(f.f_code.co_filename)]
    named = [f for f in frames if not f.f_code.co_flags & CO_NESTED] or frames
    return _full_name(named[-1]) if named else ""


def _full_name(frame: FrameType) -> str:
    wrapped = _wrapped_name(frame)
    if wrapped:
        return wrapped
    module = str(frame.f_globals.get("__name__", ""))
    code = frame.f_code
    qualified = getattr(code, "co_qualname", "")
    if not qualified:  # before Python 3.11
        owner = type(frame.f_locals["self"]).__name__ if "self" in code.co_varnames[:1] else ""
        qualified = f"{owner}.{_name(code)}" if owner else _name(code)
    *path, name = qualified.split(".")
    return ".".join((module, *path, _RESUMED.sub(r"\1", name)))


def _wrapped_name(frame: FrameType) -> str:
    """The name of the function that a decorator put a wrapper around; empty for any other frame.

    Looked up, and taken only where what is found under the name runs this very code.
    """
    code = frame.f_code
    if not code.co_flags & CO_NESTED:
        return ""
    for name in code.co_freevars:
        inner = frame.f_locals.get(name)
        if type(inner) is FunctionType and "<locals>" not in inner.__qualname__:
            found: Any = sys.modules.get(inner.__module__)
            for part in inner.__qualname__.split("."):
                found = vars(found).get(part) if isinstance(found, (ModuleType, type)) else None
            if type(found) is FunctionType and found.__code__ is code:
                return f"{inner.__module__}.{inner.__qualname__}"
    return ""


def _name(code: CodeType) -> str:
    """A function's name; that of the whole one where Dynamo resumes it after a break."""
    return _RESUMED.sub(r"\1", code.co_name)


@lru_cache(maxsize=4096)
def _is_library(path: str) -> bool:
    return is_library(path)
