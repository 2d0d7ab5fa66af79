"""The options that are ours, told from those that are the inner backend's."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from graphlens.errors import UsageError
from graphlens.suggestions import nearest_first

PREFIX = "graphlens."
SHOW = ("none", "summary", "table", "code")


@dataclass(frozen=True, kw_only=True)
class LensOptions:
    """What a user can set, as ``graphlens.NAME`` in ``torch.compile(options=...)``.

    Attributes:
        show: What is printed as graphs are compiled: ``none``, ``summary`` (a title line for each
            graph), ``table`` or ``code``.
        rows: Most rows of a printed table, None for all.
        out: Folder where the report is written when the process ends; nothing is written without.
        inner: Name of the backend that compiles, or a callable.
    """

    show: str = "table"
    rows: int | None = 24
    out: str | None = None
    inner: str | Callable[..., Any] = "inductor"

    def __post_init__(self) -> None:
        if self.show not in SHOW:
            raise UsageError(_not_one_of("graphlens.show", self.show, SHOW))
        whole = isinstance(self.rows, int) and not isinstance(self.rows, bool) and self.rows > 0
        if self.rows is not None and not whole:
            raise UsageError(
                f"graphlens.rows is {self.rows!r}; give a number above 0, or None for all rows."
            )
        if not isinstance(self.inner, str) and not callable(self.inner):
            raise UsageError(
                f"graphlens.inner is {self.inner!r}; give a backend's name or a callable."
            )


NAMES = tuple(field.name for field in fields(LensOptions))


def split_options(options: Mapping[str, Any] | None) -> tuple[LensOptions, dict[str, Any]]:
    """Our options, checked, and all the others untouched.

    The environment gives defaults: ``GRAPHLENS_SHOW`` and ``GRAPHLENS_OUT``.

    Raises:
        UsageError: A ``graphlens.*`` option is unknown or has a wrong value.
    """
    ours = {k[len(PREFIX) :]: v for k, v in (options or {}).items() if k.startswith(PREFIX)}
    others = {k: v for k, v in (options or {}).items() if not k.startswith(PREFIX)}
    return lens_options(ours, PREFIX), others


def lens_options(given: Mapping[str, Any], prefix: str = "") -> LensOptions:
    """Checks options by name and value; the environment gives defaults.

    Args:
        given: By name without prefix.
        prefix: How the user wrote them, for the message.

    Raises:
        UsageError: A name is unknown or a value wrong.
    """
    for name in given:
        if name not in NAMES:
            raise UsageError(_unknown(name, prefix))
    return LensOptions(**{**_from_environment(), **given})


def _from_environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    if show := os.environ.get("GRAPHLENS_SHOW"):
        if show not in SHOW:
            raise UsageError(_not_one_of("GRAPHLENS_SHOW", show, SHOW))
        found["show"] = show
    if out := os.environ.get("GRAPHLENS_OUT"):
        found["out"] = out
    return found


def _unknown(name: str, prefix: str) -> str:
    valid = nearest_first(prefix + name, (prefix + known for known in NAMES))
    return f"Unknown option {prefix}{name}. Valid, nearest first: {valid}."


def _not_one_of(name: str, value: object, valid: tuple[str, ...]) -> str:
    return f"{name} is {value!r}; give one of {', '.join(valid)}."
