"""The valid names, for the message about a wrong one."""

import difflib
from collections.abc import Iterable


def nearest_first(wrong: str, valid: Iterable[str]) -> str:
    """The valid names in one line, those most like the wrong one first."""
    names = list(valid)
    near = difflib.get_close_matches(wrong, names, n=len(names), cutoff=0.6)
    return ", ".join([*near, *(name for name in names if name not in near)])
