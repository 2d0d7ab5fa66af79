"""Source paths, shortened for people."""

import re
from collections.abc import Iterable

from graphlens.model import SourceLocation

_INSTALLED = re.compile(r"^.*?/(?:site-packages|dist-packages)/")
_STDLIB = re.compile(r"^.*?/lib/python3\.\d+/")
_TORCH = re.compile(r"^.*/(?:site|dist)-packages/torch/")
_OTHER_PACKAGE = re.compile(r"^.*/(?:site|dist)-packages/(?!torch/)")
# GraphLens installed as usual, or (the second half) run from a checkout. By its own folders and
# modules: a checkout may lie in ~/src/graphlens, and what the user writes beside it is the user's.
_GRAPHLENS = re.compile(
    r"^.*/(?:site|dist)-packages/graphlens/"
    r"|^.*/src/graphlens/(?:"
    r"(?:_torch|analysis|capture|checks|cli|model|renderers)/"
    r"|(?:__init__|__main__|backends|display|entry|errors|notebook|pictures|presenter|progress|pytest_plugin"
    r"|registry|requirements|suggestions|sphinx_ext|two_graphs|version)\.py$)"
)
# What pip writes to start a package's command.
_WRAPPER = re.compile(r"^.*/bin/(?:graphlens|pytest|py\.test|torchrun|accelerate)$")
# Dynamo's way into a compiled function.
_ENTRY = re.compile(r"^.*/torch/_dynamo/eval_frame\.py$")
# Typed by the user, not generated.
_INTERACTIVE = ("<stdin>", "<ipython-input-", "<python-input-")


def is_library(path: str) -> bool:
    """Whether a file is not the user's own.

    That is one of an installed package, the standard library, the interpreter or GraphLens.
    """
    if path.startswith("<"):
        return not path.startswith(_INTERACTIVE)
    patterns = (_INSTALLED, _STDLIB, _GRAPHLENS, _WRAPPER)
    return any(pattern.match(path) for pattern in patterns)


def is_graphlens(path: str) -> bool:
    """Whether a file is GraphLens's own, installed or in a checkout."""
    return bool(_GRAPHLENS.match(path))


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
    """The innermost frame that is the user's own.

    Where none is, the innermost of what GraphLens called; None where it called nothing but Dynamo.
    Its own frames, and those that lead to them, belong to no program: a command of it began there.

    Args:
        stack: Outermost first.
    """
    frames = list(stack)
    own = [frame for frame in frames if not is_library(frame.file)]
    if own:
        return own[-1]
    if any(is_graphlens(frame.file) for frame in frames):
        entries = [n for n, f in enumerate(frames) if is_graphlens(f.file) or _ENTRY.match(f.file)]
        frames = frames[entries[-1] + 1 :]
    return frames[-1] if frames else None


def place(location: SourceLocation | None, root: str = "") -> str:
    """A location as ``file:line``; empty for None."""
    return f"{short_path(location.file, root)}:{location.line}" if location else ""


def is_torch(path: str) -> bool:
    """Whether a file is torch's own, or the standard library's."""
    return bool(_TORCH.match(path) or _STDLIB.match(path)) and not _OTHER_PACKAGE.match(path)
