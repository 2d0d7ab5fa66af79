"""A program with some of its source changed, beside the user's own.

Nothing at the top of a file is run again, and no function, class or module of the user's is
modified: what leads to the changed code is made anew, and all else is shared.
"""

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from graphlens._torch.dynamo import original_callable
from graphlens.capture.new_codes import CannotCopy, NewCodes
from graphlens.capture.program_copier import ProgramCopier
from graphlens.capture.program_graph import ProgramGraph

__all__ = ["CannotCopy", "with_new_source"]

Calls = Sequence[tuple[tuple[Any, ...], dict[str, Any]]]


def with_new_source(
    target: Callable[..., Any], calls: Calls, file: str, source: str
) -> Callable[..., Any]:
    """A copy of a program in which a file's functions run the code of another text of it.

    Modules that the program reaches are copied too, with the very same parameters and buffers, so
    that attributes the copy sets stay in it. Lines are those of the new text.

    Args:
        target: A function, method, partial, module or other callable; compiled or not.
        calls: That it is to be called with; the change must not be in what they give to it.
        file: Path as in ``co_filename``.
        source: The new text.

    Raises:
        CannotCopy: The change is not reached, or something on the way to it cannot be copied.
    """
    target = original_callable(target)
    codes = NewCodes(file, source)
    arguments = [leaf for leaf in pytree.tree_leaves(calls) if not isinstance(leaf, torch.Tensor)]
    program = ProgramGraph([target, *arguments])
    parts = list(program.parts.values())
    functions = [part for part in parts if type(part) is FunctionType]
    needed = program.leading_to(part for part in functions if codes.is_changed(part))
    for argument in arguments:
        if id(argument) in needed:
            raise CannotCopy(f"the change is in an argument ({type(argument).__name__})")
    if id(target) not in needed:
        raise CannotCopy(_why_not(codes, functions))
    moved = (part for part in functions if codes.is_moved(part))
    copied = program.leading_to([*moved, *_modules(parts)]) | needed
    copy: Callable[..., Any] = ProgramCopier(codes, program, copied, needed).copy(target)
    return copy


def _modules(parts: Iterable[Any]) -> list[torch.nn.Module]:
    scripted = torch.jit.ScriptModule
    kept = (part for part in parts if not issubclass(type(part), scripted))
    return [part for part in kept if issubclass(type(part), torch.nn.Module)]


def _why_not(codes: NewCodes, functions: Iterable[FunctionType]) -> str:
    if any(map(codes.is_unknown, functions)):
        return f"{codes.file} is not as it was loaded"
    return "the changed code is not reached from the program"
