"""What a call may change besides its arguments: the modules, optimizers and tensors in reach.

What a function reads is found by looking, not by running: its closure, defaults and globals, the
object it is bound to, and what those hold. The search is bounded, nearest things first.
"""

import functools
import logging
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

DEEPEST = 6
MOST_VALUES = 20_000
MOST_ITEMS = 1_000

Named = tuple[str, Any]
Container = list[Any] | dict[Any, Any] | set[Any] | deque[Any]

_CONTAINERS = (list, tuple, set, frozenset, deque)
_NOTHING_INSIDE = frozenset(
    (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)
)
# Every module's logger leads to all others.
_NO_STATE = (ModuleType, CodeType, CellType, logging.Logger)
_LIBRARIES = frozenset(("torch", *sys.stdlib_module_names))


@dataclass
class Reachable:
    """What was found; each object once.

    Attributes:
        modules: By the names the code uses, as optimizers and tensors are.
        optimizers: The same.
        tensors: The same.
        containers: Lists, dictionaries, sets and deques; attributes of plain objects too.
        variables: Globals that functions name, as their namespace and name.
        cells: Of closures.
    """

    modules: dict[str, torch.nn.Module] = field(default_factory=dict)
    optimizers: dict[str, torch.optim.Optimizer] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    containers: list[Container] = field(default_factory=list)
    variables: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    cells: list[CellType] = field(default_factory=list)


def reachable(target: Any, arguments: Any) -> Reachable:
    """Searches a callable, and those of its arguments that are no tensors.

    Args:
        target: A function, method, module or other callable.
        arguments: Any tree of them; tensors in it are left out, as the call gets copies.
    """
    leaves = [v for v in pytree.tree_leaves(arguments) if not isinstance(v, torch.Tensor)]
    search = _Search()
    search.run([("", target), *((_type_name(leaf), leaf) for leaf in leaves)])
    return search.found


class _Search:
    def __init__(self) -> None:
        self.found = Reachable()
        self.seen: dict[int, Any] = {}  # the values too, so that no id is used again

    def run(self, roots: list[Named]) -> None:
        waiting = deque((name, value, 0) for name, value in roots)
        while waiting and len(self.seen) < MOST_VALUES:
            name, value, depth = waiting.popleft()
            if type(value) in _NOTHING_INSIDE or id(value) in self.seen:
                continue
            self.seen[id(value)] = value
            inner = self.visit(name, value)
            if depth < DEEPEST:
                waiting += [
                    (inner_name, held, depth + 1)
                    for inner_name, held in inner
                    if type(held) not in _NOTHING_INSIDE and id(held) not in self.seen
                ]

    def visit(self, name: str, value: Any) -> Iterator[Named]:
        """Keeps a value that is looked for, and names what else it holds."""
        # By type() and not isinstance(), which asks a proxy for its __class__ and so runs code.
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            _add(self.found.tensors, name, value)
        elif issubclass(kind, torch.optim.Optimizer):
            _add(self.found.optimizers, name or kind.__name__, value)
        elif issubclass(kind, torch.nn.Module):
            _add(self.found.modules, name, value)
            return self.in_module(name, value)
        else:
            self.keep(value)
            return _held(name, value)
        return iter(())

    def keep(self, value: Any) -> None:
        """Notes what can be changed in place: containers, attributes, closures, globals."""
        kind = type(value)
        if kind in (list, dict, set, deque):
            self.found.containers.append(value)
        elif issubclass(kind, FunctionType):
            if not _is_library(value):
                self.found.cells += value.__closure__ or ()
                names = _names_read(value.__code__)
                self.found.variables += [
                    (value.__globals__, name) for name in names if name in value.__globals__
                ]
        elif not issubclass(kind, (*_NO_STATE, type)):
            attributes = getattr(value, "__dict__", None) if _has_own_dict(kind) else None
            if type(attributes) is dict:
                self.found.containers.append(attributes)

    def in_module(self, name: str, module: torch.nn.Module) -> Iterator[Named]:
        for path, submodule in module.named_modules(prefix=name):
            self.seen[id(submodule)] = submodule
            for attribute, value in list(vars(submodule).items()):
                if attribute not in _every_modules_attributes():
                    yield _joined(path, attribute), value
            yield from _in_class(type(submodule))


def _has_own_dict(kind: type) -> bool:
    """Whether objects keep attributes as usual: a proxy would give those of another."""
    return "__getattribute__" not in {name for base in kind.__mro__[:-1] for name in vars(base)}


def _held(name: str, value: Any) -> Iterator[Named]:
    kind = type(value)
    if issubclass(kind, FunctionType):
        yield from _in_function(value)
    elif issubclass(kind, MethodType):
        yield name, value.__self__
        yield name, value.__func__
    elif issubclass(kind, (staticmethod, classmethod)):
        yield name, value.__func__
    elif issubclass(kind, functools.partial):
        yield name, value.func
        yield name, value.args
        yield from value.keywords.items()
    elif issubclass(kind, dict):
        for key, item in islice(list(value.items()), MOST_ITEMS):
            yield f"{name}[{key!r}]" if isinstance(key, (str, int)) else name, item
    elif issubclass(kind, _CONTAINERS):
        for index, item in enumerate(islice(list(value), MOST_ITEMS)):
            yield f"{name}[{index}]", item
    elif issubclass(kind, type):
        yield from _in_class(value)
    elif not issubclass(kind, _NO_STATE):
        yield from _in_object(name, value)


def _in_object(name: str, value: Any) -> Iterator[Named]:
    try:
        attributes = dict(vars(value))
    except Exception:  # noqa: BLE001  it has none, or a proxy that fails to give them
        return
    for attribute, held in attributes.items():
        yield _joined(name, attribute), held
    yield from _in_class(type(value))


def _in_class(kind: type) -> Iterator[Named]:
    """Class attributes, methods included, of the user's own classes."""
    for base in kind.__mro__:
        if not _is_library(base):
            for attribute, value in list(vars(base).items()):
                yield f"{base.__name__}.{attribute}", value


def _in_function(function: FunctionType) -> Iterator[Named]:
    if _is_library(function):
        return
    code = function.__code__
    yield from zip(code.co_freevars, map(_contents, function.__closure__ or ()), strict=False)
    yield "defaults", function.__defaults__
    yield from (function.__kwdefaults__ or {}).items()
    names = _names_read(code)
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            if not _is_library(value):
                held = vars(value)
                yield from ((f"{name}.{inner}", held[inner]) for inner in names if inner in held)
        else:
            yield name, value


def _names_read(code: CodeType) -> dict[str, None]:
    """Global and attribute names in a function's code and in those defined inside it."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_read(constant)
    return names


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _is_library(value: Any) -> bool:
    """Whether a class, function or module is Python's or torch's own: no user state is there.

    What an object of such a class holds is not meant: that may well be the user's.
    """
    named = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return str(named).partition(".")[0] in _LIBRARIES


@functools.cache
def _every_modules_attributes() -> frozenset[str]:
    """Names each module has: parameters, buffers and submodules are found through them."""
    return frozenset(vars(torch.nn.Module()))


def _add(found: dict[str, Any], name: str, value: Any) -> None:
    unique, count = name, 1
    while unique in found:
        count += 1
        unique = f"{name} ({count})"
    found[unique] = value


def _joined(name: str, attribute: str) -> str:
    return f"{name}.{attribute}" if name else attribute


def _type_name(value: Any) -> str:
    return type(value).__name__
