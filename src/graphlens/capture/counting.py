"""Counting the calls of a compiled function."""

from collections.abc import Callable
from typing import Any

from graphlens._torch.dynamo import innermost, is_saved_by_torch, keep_serialize
from graphlens.model import Unavailable


def counted(
    compiled: Callable[..., Any],
) -> tuple[Callable[..., Any], Callable[[], int] | Unavailable]:
    """A function that counts its calls and does nothing else, and a reader of the count.

    The increment has no call between load and store, so threads do not lose counts where the
    interpreter switches at calls and jumps only (CPython 3.11 and later with the GIL).
    """
    if is_saved_by_torch(compiled):
        return compiled, Unavailable("torch saves this compiled code, so it stays as it is")
    run = innermost(compiled)
    hits = 0

    def count(*args: Any) -> Any:
        nonlocal hits
        hits += 1
        return run(*args)

    keep_serialize(count, compiled)
    return count, lambda: hits
