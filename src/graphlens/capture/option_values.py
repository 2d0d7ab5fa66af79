"""Checks of options that several functions take, with the same message in each."""

from collections.abc import Iterable, Mapping
from typing import Any

from graphlens.errors import UsageError
from graphlens.suggestions import nearest_first


def only_known(given: Mapping[str, Any], names: Iterable[str]) -> None:
    """Checks that every option is one that there is.

    Raises:
        UsageError: One is not; the message has those that are, the nearest first.
    """
    known = tuple(names)
    for name in given:
        if name not in known:
            valid = nearest_first(name, known)
            raise UsageError(f"Unknown option {name}. Valid, nearest first: {valid}.")


def check_seconds(name: str, value: Any, example: int) -> None:
    """Checks that a value is a number of seconds above 0.

    Raises:
        UsageError: It is not.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not value > 0:
        raise UsageError(f"{name} is {value!r}; give seconds above 0, such as {name}={example}.")
