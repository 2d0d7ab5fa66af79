"""Keeping what a thread writes off the terminal."""

import contextlib
import io
import sys
import threading
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops what this thread writes; other threads write as before."""
    with (
        contextlib.redirect_stdout(_OthersOnly(sys.stdout)),
        contextlib.redirect_stderr(_OthersOnly(sys.stderr)),
    ):
        yield


class _OthersOnly(io.TextIOBase):
    """A stream that takes nothing from the thread that made it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self._thread else self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()
