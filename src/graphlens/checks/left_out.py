"""What capture may leave out of a program: caches of functions, and custom backwards."""

import functools
import gc
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

Function = Callable[..., Any]

_CACHED = type(functools.lru_cache(lambda: None))


@dataclass
class CacheUse:
    """Notices which ``functools.lru_cache`` functions calls use.

    Attributes:
        hits: Functions with values taken from the cache, by identity.
        calls: Identities of all that were called.
    """

    hits: dict[int, Any] = field(default_factory=dict)
    calls: set[int] = field(default_factory=set)

    def noticing(self, function: Function) -> Function:
        """The function, with its calls looked at."""

        def call(*args: Any, **kwargs: Any) -> Any:
            before = [(one, one.cache_info()) for one in _cached_functions()]
            try:
                return function(*args, **kwargs)
            finally:
                for one, info in before:
                    now = one.cache_info()
                    if now.hits > info.hits:
                        self.hits[id(one)] = one
                    if now != info:
                        self.calls.add(id(one))

        return call


def _cached_functions() -> list[Any]:
    """Those of programs; libraries' own are not what a program's results depend on."""
    return [one for one in gc.get_objects() if type(one) is _CACHED and not _of_library(one)]


def _of_library(thing: Any) -> bool:
    root = str(getattr(thing, "__module__", "")).partition(".")[0]
    return root in ("torch", "graphlens") or root in sys.stdlib_module_names


@contextmanager
def uncached(functions: Iterable[Any]) -> Iterator[None]:
    """Functions of ``functools.lru_cache`` are run at every call, where their names lead to them.

    Other threads have them as they are.
    """
    patched = [
        (owner, name, one)
        for one in functions
        for owner, name in _owners(one)
        if vars(owner).get(name) is one
    ]
    for owner, name, one in patched:
        setattr(owner, name, _without_cache(one))
    try:
        yield
    finally:
        for owner, name, one in patched:
            setattr(owner, name, one)


def _owners(function: Any) -> Iterator[tuple[Any, str]]:
    """The class or module that has a function, and modules that imported it."""
    *path, last = function.__qualname__.split(".")
    owner = sys.modules.get(function.__module__)
    for name in path:
        owner = getattr(owner, name, None)
    if owner is not None and path:
        yield owner, last
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is function:
                yield module, name


def _without_cache(function: Any) -> Function:
    thread = threading.get_ident()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        here = threading.get_ident() == thread
        return (function.__wrapped__ if here else function)(*args, **kwargs)

    for name in ("cache_clear", "cache_info", "cache_parameters"):
        setattr(call, name, getattr(function, name))
    return call


def name_of(function: Any) -> str:
    """A function in the user's terms, with its line."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = getattr(function, "__qualname__", "a function").replace("<locals>.", "")
    return f"`{name}` (line {code.co_firstlineno})" if code else f"`{name}`"


@contextmanager
def plain_functions() -> Iterator[list[str]]:
    """Custom ``torch.autograd.Function`` s of programs act as their forward alone would.

    Other threads have theirs as they are.

    Yields:
        Names of those that were used.
    """
    used: list[str] = []
    patched = [one for one in _functions(torch.autograd.Function) if "apply" not in vars(one)]
    for one in patched:
        one.apply = staticmethod(_plain(one, one.apply, used))
    try:
        yield used
    finally:
        for one in patched:
            del one.apply


def _functions(base: Any) -> Iterator[Any]:
    for one in base.__subclasses__():
        if not _of_library(one):
            yield one
        yield from _functions(one)


def _plain(function: Any, apply: Function, used: list[str]) -> Function:
    thread = threading.get_ident()
    separate = function.setup_context is not torch.autograd.Function.setup_context

    def call(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return apply(*args, **kwargs)
        if function.__name__ not in used:
            used.append(function.__name__)
        context = () if separate else (_NoContext(),)
        return function.forward(*context, *args, **kwargs)

    return call


class _NoContext:
    """Takes what a forward keeps for its backward; all of it is lost."""

    needs_input_grad = ()

    def save_for_backward(self, *_: Any) -> None: ...

    def save_for_forward(self, *_: Any) -> None: ...

    def mark_dirty(self, *_: Any) -> None: ...

    def mark_non_differentiable(self, *_: Any) -> None: ...

    def set_materialize_grads(self, _: bool) -> None: ...
