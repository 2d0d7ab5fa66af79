"""The valid names, for the message about a wrong one."""

import difflib
from collections.abc import Iterable


def nearest_first(wrong: str, valid: Iterable[str], most: int | None = None) -> str:
    """The valid names in one line, those most like the wrong one first.

    Args:
        wrong: What was asked for.
        valid: All names.
        most: Most names told; None tells all.
    """
    names = list(valid)
    near = difflib.get_close_matches(wrong, names, n=len(names), cutoff=0.6)
    ordered = [*near, *(name for name in names if name not in near)]
    more = len(ordered) - len(ordered[:most])
    return ", ".join(ordered[:most]) + (f" and {more} more" if more else "")
