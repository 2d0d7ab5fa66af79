"""Classes over the user's own, which only replace what a copy has its own of.

A class that is copied becomes a subclass of the original and of its copied bases, in this order.
So ``isinstance`` holds as before, what is not replaced is inherited, and ``super()`` in a method,
which goes on after the class that the method was written in, comes to the copied base next.
"""

import dis
from itertools import pairwise
from types import FunctionType
from typing import Any

from graphlens.analysis.places import is_library
from graphlens.capture.wrapping import wrapped

_RUN_BY_CLASSES = ("__new__", "__init__", "__prepare__", "__call__")


class NotCopied(Exception):  # noqa: N818  it is what happened, and no fault
    """A part that cannot be copied; the message names it, as the end of a sentence."""


def class_over(original: type, bases: tuple[type, ...]) -> type:
    """An empty class over a class of the user's.

    Args:
        original: The class.
        bases: Its bases, or their copies.

    Raises:
        NotCopied: Making it would run code of the user's, or Python refuses.
    """
    named = f"the class {original.__name__}"
    if any(_is_users(base, "__init_subclass__") for base in original.__mro__):
        raise NotCopied(f"{named}, which runs code when a class is derived from it")
    metaclasses = type.mro(type(original))
    if any(_is_users(meta, name) for meta in metaclasses for name in _RUN_BY_CLASSES):
        raise NotCopied(f"{named}, whose metaclass is the program's own")
    for attribute in vars(original).values():
        if _names_its_class(attribute):
            raise NotCopied(f"{named}, which calls super with its own name")
    copied = [base for base, old in zip(bases, original.__bases__, strict=True) if base is not old]
    body = {name: getattr(original, name) for name in ("__module__", "__qualname__", "__doc__")}
    try:
        return type(original)(original.__name__, (original, *copied), body)
    except Exception as error:  # such as an Enum, or a class that must not be derived from
        raise NotCopied(f"{named}, which Python could not derive from ({error})") from error


def instance_of(kind: type, original: Any) -> Any:
    """An empty object of a class, laid out as an object of the user's, without running anything.

    Raises:
        NotCopied: It keeps values elsewhere than in its ``__dict__``.
    """
    named = f"an object of the class {type(original).__name__}"
    slots = {name for base in kind.__mro__ for name in _slots(base)}
    if not hasattr(original, "__dict__") or slots - {"__dict__", "__weakref__"}:
        raise NotCopied(f"{named}, which has no __dict__ of all its attributes")
    try:
        return object.__new__(kind)
    except TypeError as error:
        raise NotCopied(f"{named}, which Python itself implements") from error


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_users(kind: type, name: str) -> bool:
    function = _function(vars(kind).get(name))
    return function is not None and not is_library(function.__code__.co_filename)


def _names_its_class(attribute: Any) -> bool:
    """Whether a method calls ``super`` with arguments, which only its own class would fit."""
    function = _function(attribute)
    if function is None or "super" not in function.__code__.co_names:
        return False
    instructions = list(dis.get_instructions(function))
    after = [following for one, following in pairwise(instructions) if one.argval == "super"]
    # Without arguments nothing is loaded, or (Python 3.12) what super would find by itself.
    return any(one.opname.startswith("LOAD_") and one.argval != "__class__" for one in after)


def _function(attribute: Any) -> FunctionType | None:
    while inside := wrapped(attribute):
        attribute = inside[0]
    return attribute if type(attribute) is FunctionType else None
