"""Source paths, shortened for people."""

import re
from collections.abc import Iterable

from graphlens.model import SourceLocation

_INSTALLED = re.compile(r"^.*?/(?:site-packages|dist-packages)/")
_STDLIB = re.compile(r"^.*?/lib/python3\.\d+/")
_TORCH = re.compile(r"^.*/(?:site|dist)-packages/torch/")
_OTHER_PACKAGE = re.compile(r"^.*/(?:site|dist)-packages/(?!torch/)")


def is_library(path: str) -> bool:
    """Whether a file belongs to an installed package, the standard library or the interpreter."""
    return bool(_INSTALLED.match(path) or _STDLIB.match(path)) or path.startswith("<")


def short_path(path: str, root: str = "") -> str:
    """A path as short as it stays clear.

    Args:
        path: As torch gave it.
        root: A folder; files below it are given relative to it.
    """
    # Installed first: a virtual environment often lies below the root.
    for installed in (_INSTALLED, _STDLIB):
        if installed.match(path):
            return installed.sub("", path)
    if root and path.startswith(root.rstrip("/") + "/"):
        return path[len(root.rstrip("/")) + 1 :]
    return path


def user_frame(stack: Iterable[SourceLocation]) -> SourceLocation | None:
    """The innermost frame that is the user's own; the innermost of all where none is.

    Args:
        stack: Outermost first.
    """
    frames = list(stack)
    own = [frame for frame in frames if not is_library(frame.file)] or frames
    return own[-1] if own else None


def place(location: SourceLocation | None, root: str = "") -> str:
    """A location as ``file:line``; empty for None."""
    return f"{short_path(location.file, root)}:{location.line}" if location else ""


def is_torch(path: str) -> bool:
    """Whether a file is torch's own, or the standard library's."""
    return bool(_TORCH.match(path) or _STDLIB.match(path)) and not _OTHER_PACKAGE.match(path)
