"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

TRACEBACK = "--traceback"


def traceback_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--traceback``, before or after a command's name; `main` reads it from the arguments."""
    text = "Show Python's traceback of an error."
    return click.option(TRACEBACK, is_flag=True, expose_value=False, help=text)(command)
