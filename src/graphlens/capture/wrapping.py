"""Values that wrap functions, such as a method or a partial: what is inside, and made anew."""

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

_CACHED = type(functools.lru_cache(lambda: None))

New = Callable[[Any], Any]


def wrapped(value: Any) -> tuple[Any, ...]:
    """What a value wraps; nothing for other values."""
    kind = type(value)
    if kind is MethodType:
        return value.__func__, value.__self__
    if kind is functools.partial:
        return value.func, value.args, value.keywords
    if kind in (staticmethod, classmethod):
        return (value.__func__,)
    if kind is property:
        return value.fget, value.fset, value.fdel
    if kind is functools.cached_property:
        return (value.func,)
    if kind is _CACHED:
        return (value.__wrapped__,)
    return ()


def rewrapped(value: Any, new: New) -> Any:
    """The same kind of wrapper around what ``new`` makes of what is inside."""
    kind = type(value)
    inside = [new(held) for held in wrapped(value)]
    if kind is functools.partial:
        function, arguments, keywords = inside
        return functools.partial(function, *arguments, **keywords)
    if kind is property:
        getter, setter, deleter = inside
        return property(getter, setter, deleter, value.__doc__)
    if kind is functools.cached_property:
        made = functools.cached_property(*inside)
        made.attrname = value.attrname
        return made
    if kind is _CACHED:
        # What it has kept belongs to the user's function.
        return functools.lru_cache(**value.cache_parameters())(*inside)
    return kind(*inside)
