"""The library's function that a user's line calls, by the name that the user knows it by.

A function behind a decorator is ``wrapper`` to torch, which says nothing: the line's own call,
with what the file imports, says more.
"""

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from graphlens.analysis.break_triggers import meets_marks, nodes_of_head
from graphlens.analysis.crossed_values import resumed_function
from graphlens.analysis.places import is_graphlens, is_library, is_torch, short_path
from graphlens.analysis.source_code import SourceFiles
from graphlens.model import GraphBreak, SourceLocation

_TORCHS = frozenset({"torch", "typing", "builtins"})
# As decorators mostly name what they put in place of a function.
_WRAPPERS = frozenset({"wrapper", "wrapped", "_wrapper", "wrap", "inner", "decorated", "decorator"})


@dataclass(frozen=True)
class LibraryCall:
    """A call of a library's function.

    Attributes:
        name: Such as ``scipy.linalg.det``; empty where none is known.
        node: The call in the user's line; None where it is not known which one it is.
    """

    name: str = ""
    node: ast.Call | None = None


@dataclass(frozen=True)
class CodeOwner:
    """The function that a line of a library is in.

    Attributes:
        module: Such as ``scipy.linalg._basic``.
        function: As in ``__qualname__``, without ``<locals>``.
        outermost: The same up to the first function: of what a decorator made, the decorator.
    """

    module: str
    function: str
    outermost: str

    @property
    def is_nested(self) -> bool:
        """Whether it is a function inside of another, as those are that decorators make."""
        last = self.function.rpartition(".")[2]
        return self.function != self.outermost or last in _WRAPPERS


def library_call(found: GraphBreak, files: SourceFiles) -> LibraryCall:
    """The call of a library that a break is in.

    Args:
        found: A break that is in a library's code, or at a line that calls a library.
        files: Of the user and the library.
    """
    frames = _library_frames(found)
    owners = [owner_of(frame, files) for frame in frames]
    named = next((owner for owner in owners if not owner.is_nested), None)
    packages = {owners[0].module.partition(".")[0]} if owners else None
    calls = _calls(found, files)
    public: dict[str, ast.Call] = {}
    for name, node in calls:
        if _is_of(name, packages):
            public.setdefault(name, node)
    last = named.function.rpartition(".")[2] if named else ""
    same = [name for name in public if last and name.rpartition(".")[2] == last]
    fitting = same or list(public)
    if len(fitting) == 1:
        return LibraryCall(fitting[0], public[fitting[0]])
    if named is not None:
        return LibraryCall(f"{named.module}.{named.function}")
    if public:
        return LibraryCall(" or ".join(public))
    if owners and len(calls) == 1:
        return LibraryCall(ast.unparse(calls[0][1].func), calls[0][1])
    return LibraryCall(f"{owners[0].module}.{owners[0].outermost}" if owners else "")


def owner_of(place: SourceLocation, files: SourceFiles) -> CodeOwner:
    """The function of a library that a line is in; the line alone may tell, where it is at hand."""
    module = short_path(place.file).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    around = files.file(place.file).definitions(place.line)
    name = resumed_function(place.function)
    if not around or (name and around[-1].name != name):
        return CodeOwner(module, name, name)
    functions = [n for n, one in enumerate(around) if not isinstance(one, ast.ClassDef)]
    names = [one.name for one in around]
    return CodeOwner(module, ".".join(names), ".".join(names[: functions[0] + 1]))


def _library_frames(found: GraphBreak) -> list[SourceLocation]:
    """What the user's line led to in libraries other than torch, outermost first."""
    stack = found.stack
    own = [n for n, place in enumerate(stack) if not is_library(place.file)]
    inner = stack[own[-1] + 1 :] if own else stack
    return [f for f in inner if not is_graphlens(f.file) and not is_torch(f.file)]


def _calls(found: GraphBreak, files: SourceFiles) -> list[tuple[str, ast.Call]]:
    """Calls of the line with the full names of what they call; empty names where not imported."""
    source = files.file(found.file)
    imported = files.imported(found.file)
    nodes = [
        node
        for statement in source.statements(found.line)
        for node in nodes_of_head(statement)
        if isinstance(node, ast.Call)
    ]
    marked = [node for node in nodes if meets_marks(source, node, found)]
    return [(_full_name(node.func, imported), node) for node in marked or nodes]


def _full_name(function: ast.expr, imported: dict[str, str]) -> str:
    path: list[str] = []
    while isinstance(function, ast.Attribute):
        path.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name) or function.id not in imported:
        return ""
    return ".".join((imported[function.id], *reversed(path)))


def _is_of(name: str, packages: Iterable[str] | None) -> bool:
    """Whether a function is of given packages, or of any that is neither torch nor Python's."""
    package = name.partition(".")[0]
    if packages is not None:
        return package in packages
    return bool(package) and package not in _TORCHS | sys.stdlib_module_names
