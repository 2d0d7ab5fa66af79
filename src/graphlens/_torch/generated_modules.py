"""The modules into which Inductor has loaded the programs that it generated.

Seen on torch 2.14: ``PyCodeCache`` writes a program to a file, imports it as a module, and keeps
the modules in a list; what it compiled, what a cache gave back, and backward programs alike. What
torch runs is the module's ``call``: a method of the module's own class, or a function.
"""

from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from graphlens._torch.probes import probe


def loaded_programs(code: str) -> list[ModuleType]:
    """Modules of this process that were loaded from just this text."""
    from torch._inductor.codecache import PyCodeCache

    found = {id(module): module for module in PyCodeCache.modules if _text(module) == code}
    return list(found.values())


def function_of(module: ModuleType, owner: str, name: str) -> FunctionType | None:
    """A function of a generated module, or of a class of it; None where there is none."""
    place: Any = getattr(module, owner, None) if owner else module
    found = getattr(place, name, None)
    return found if isinstance(found, FunctionType) else None


def _text(module: ModuleType) -> str:
    if not module.__file__:
        return ""
    try:
        return Path(module.__file__).read_text()
    except OSError:  # a cache that was cleared
        return ""


@probe("modules of generated programs", seen_on="2.14")
def _probe_modules() -> str:
    from torch._inductor.codecache import PyCodeCache

    load: Callable[..., Any] = PyCodeCache.load_by_key_path
    if not isinstance(PyCodeCache.modules, list):
        raise TypeError("PyCodeCache.modules is no list")
    return f"a list that {load.__name__} fills"
