"""What is said of an error of the user's program: one line, with the place in their code."""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import click

from graphlens.analysis.places import is_library, place, user_frame
from graphlens.errors import GraphLensError, UserProgramError
from graphlens.model import SourceLocation
from graphlens.presenter import current_folder

# Torch's first line when a backend fails; the error itself comes after it.
_HEADER = re.compile(r"^backend=.* raised:$")


def program_error(what: str, error: BaseException) -> UserProgramError:
    """The error to raise from one of the user's program.

    Args:
        what: What raised it, as the start of a sentence.
        error: Theirs.
    """
    where = _where(error)
    return UserProgramError(f"{what} raised {described(error)}{f' (at {where})' if where else ''}")


@contextmanager
def failures_of(target: str) -> Iterator[None]:
    """What the user's program raises in the block becomes one message; its report is printed.

    Args:
        target: What the user asked for.

    Raises:
        UserProgramError: The program raised.
    """
    try:
        yield
    except GraphLensError:
        raise
    except (Exception, SystemExit) as error:
        found = getattr(error, "graphlens_report", None)
        if found is not None:
            click.echo(str(found))
        raise program_error(target, error) from error


def described(error: BaseException) -> str:
    """An error's type and the first line of its message that says something."""
    name = type(error).__name__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not _HEADER.match(line)] or lines
    return f"{name}: {told[0]}" if told else name


def _where(error: BaseException) -> str:
    """The innermost of the user's own lines that the error passed; empty where there is none."""
    stack = [
        SourceLocation(file=frame.filename, line=frame.lineno or 0, function=frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    own = user_frame(stack)
    if own is None or is_library(own.file):
        return ""
    return f"{place(own, current_folder())} in {own.function}"
