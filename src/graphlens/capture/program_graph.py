"""What a program is made of, and which parts lead to changed code.

The parts are found by looking, not by running, as in `reachable`; here each is a node, with an
edge to whatever it calls or holds.
"""

import dis
import opcode
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import torch

from graphlens.analysis.places import is_library, is_torch
from graphlens.capture.reachable import MOST_ITEMS
from graphlens.capture.wrapping import wrapped

MOST_PARTS = 50_000

_CONTAINERS = (list, tuple, set, frozenset, deque)
_NOTHING_INSIDE = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)
_OPAQUE = (torch.Tensor, torch.optim.Optimizer, torch.jit.ScriptModule, ModuleType)
_WRITES = {opcode.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF")}


class GlobalName:
    """A global variable of a module, whether it is set or not."""

    def __init__(self, namespace: dict[str, Any], name: str) -> None:
        self.namespace = namespace
        self.name = name


class ProgramGraph:
    """Parts of a program, and what leads to what.

    Args:
        roots: Where to begin.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.parts: dict[int, Any] = {}  # by id, and held so that no id is used again
        self._holders: dict[int, set[int]] = defaultdict(set)
        self._globals: dict[tuple[int, str], GlobalName] = {}
        waiting = deque(roots)
        while waiting and len(self.parts) < MOST_PARTS:
            part = waiting.popleft()
            if type(part) in _NOTHING_INSIDE or id(part) in self.parts:
                continue
            self.parts[id(part)] = part
            for holder, held in self._edges(part):
                if type(held) not in _NOTHING_INSIDE:
                    self._holders[id(held)].add(id(holder))
                    waiting += (holder, held)

    def leading_to(self, parts: Iterable[Any]) -> set[int]:
        """Identities of some parts and of all that hold or call them, directly or not."""
        waiting = [id(part) for part in parts]
        found: set[int] = set()
        while waiting:
            part = waiting.pop()
            if part not in found:
                found.add(part)
                waiting += self._holders[part]
        return found

    def names_read(self, namespace: dict[str, Any]) -> set[str]:
        """Names that the program's code has, of those that may be global in a module."""
        return {name for module, name in self._globals if module == id(namespace)}

    def _edges(self, part: Any) -> Iterator[tuple[Any, Any]]:
        if type(part) is GlobalName:
            yield part, part.namespace.get(part.name)
        elif issubclass(type(part), FunctionType):
            yield from self._of_function(part)
        else:
            for held in _held(part):
                yield part, held

    def _of_function(self, function: FunctionType) -> Iterator[tuple[Any, Any]]:
        code = function.__code__
        for held in (function.__defaults__, function.__kwdefaults__, vars(function)):
            yield function, held
        written = _names_written(code)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            # A copied method's super() goes on after the class it was written in.
            if name != "__class__":
                yield function, cell
                if name in written:
                    yield cell, function
        if is_library(code.co_filename):
            return
        names = _names(code)
        for name in names:
            variable = self._global(function.__globals__, name)
            yield function, variable
            # Who sets a variable and who reads it have to stay together.
            if name in written:
                yield variable, function
            yield from self._of_module(function.__globals__.get(name), names, set())

    def _of_module(
        self, module: Any, names: Iterable[str], seen: set[int]
    ) -> Iterator[tuple[Any, Any]]:
        """What code that uses some names can reach through a module of the user's."""
        if not is_user_module(module) or id(module) in seen:
            return
        seen.add(id(module))
        for name in names:
            if name in vars(module):
                yield module, self._global(vars(module), name)
                yield from self._of_module(vars(module)[name], names, seen)

    def _global(self, namespace: dict[str, Any], name: str) -> GlobalName:
        return self._globals.setdefault((id(namespace), name), GlobalName(namespace, name))


def is_user_module(value: Any) -> bool:
    """Whether a value is a module that the user wrote."""
    if not issubclass(type(value), ModuleType):
        return False
    file = vars(value).get("__file__")
    return isinstance(file, str) and not is_library(file)


def is_user_class(kind: type) -> bool:
    """Whether a class stands in a file of the user's, or in a notebook."""
    file = _file_of(kind)
    return bool(file) and not is_library(file)


def _file_of(kind: type) -> str:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if isinstance(file, str):
        return file
    # A notebook has no file, and a module that a program loaded itself may not be registered.
    methods = (value for value in vars(kind).values() if type(value) is FunctionType)
    files = (method.__code__.co_filename for method in methods)
    return next((found for found in files if not is_library(found)), "")


def _held(part: Any) -> Iterable[Any]:
    # By type() and not isinstance(), which asks a proxy for its __class__ and so runs code.
    kind = type(part)
    if issubclass(kind, dict):
        return islice(list(part.values()), MOST_ITEMS)
    if issubclass(kind, _CONTAINERS):
        return islice(list(part), MOST_ITEMS)
    if issubclass(kind, type):
        return (*part.__bases__, *vars(part).values()) if is_user_class(part) else ()
    if issubclass(kind, CellType):
        return cell_contents(part)
    if issubclass(kind, _OPAQUE):
        return ()
    return wrapped(part) or _of_object(part)


def _of_object(part: Any) -> Iterable[Any]:
    kind = type(part)
    file = _file_of(kind)
    # Loggers and the like lead everywhere.
    if (is_torch(file) or not file) and not issubclass(kind, torch.nn.Module):
        return ()
    try:
        return kind, *list(vars(part).values())
    except Exception:  # noqa: BLE001  it has none, or a proxy that fails to give them
        return (kind,)


def cell_contents(cell: CellType) -> tuple[Any, ...]:
    """What a closure's cell holds; nothing where it is not filled yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _names(code: CodeType) -> dict[str, None]:
    """Global and attribute names in a function's code and in those defined inside it."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _names_written(code: CodeType) -> set[str]:
    """Variables outside a function that its code, or code defined inside it, sets."""
    names = set()
    if _WRITES.intersection(code.co_code[::2]):
        names = {i.argval for i in dis.get_instructions(code) if i.opcode in _WRITES}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return names.union(*map(_names_written, inner))
