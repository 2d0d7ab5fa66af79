"""Which code object of a rewritten file stands for a function that is loaded already."""

import dis
import linecache
import sys
from collections import Counter, defaultdict
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any

# A code object's way down from its file: at each step its name, which of those of this name
# beside it, and how many there are.
Path = tuple[tuple[str, int, int], ...]

_KIND = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


class CannotCopy(Exception):  # noqa: N818  it is a result, and no fault
    """A program that cannot be copied with a change; the message says why, for the user."""


class NewCodes:
    """Code objects of a file as it is loaded, and of the same file rewritten.

    Args:
        file: Path as in ``co_filename``.
        source: Its new text. Nothing of it is run.

    Raises:
        CannotCopy: The text it was loaded from is not at hand, or the new one is no Python.
    """

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        loaded = "".join(linecache.getlines(file))
        if not loaded:
            raise CannotCopy(f"the source of {file} is not at hand")
        try:
            self._old = dict(_below(compile(loaded, file, "exec", dont_inherit=True)))
            self._new = dict(_below(compile(source, file, "exec", dont_inherit=True)))
        except SyntaxError as error:
            raise CannotCopy(f"the rewritten source is not valid Python ({error})") from error
        self._at: dict[tuple[str, int], list[Path]] = defaultdict(list)
        for path, code in self._old.items():
            self._at[code.co_name, code.co_firstlineno].append(path)

    def code_for(self, function: FunctionType) -> CodeType:
        """What a copy of the function runs: the code of the new source, lines included.

        Raises:
            CannotCopy: The new source has none, or not one that can stand in for it.
        """
        code = function.__code__
        path = self._path(function)
        if path is None:
            return code
        new = self._new.get(path)
        if new is None:
            raise CannotCopy(f"{code.co_name} is not in the rewritten source")
        if _call(new) != _call(code):
            raise CannotCopy(f"the rewritten {code.co_name} takes other arguments")
        if not set(new.co_freevars) <= set(code.co_freevars):
            raise CannotCopy(f"the rewritten {code.co_name} uses other variables around it")
        return new

    def is_changed(self, function: FunctionType) -> bool:
        """Whether the new source has other code for it; lines alone do not count."""
        path = self._path(function)
        if path is None:
            return False
        return path not in self._new or not _same(self._old[path], self._new[path])

    def is_moved(self, function: FunctionType) -> bool:
        """Whether the new source has its code elsewhere, or has other code for it."""
        path = self._path(function)
        return path is not None and self._new.get(path) != self._old[path]

    def is_unknown(self, function: FunctionType) -> bool:
        """Whether it is of this file, and yet not as the file has it now."""
        return function.__code__.co_filename == self.file and self._path(function) is None

    def _path(self, function: FunctionType) -> Path | None:
        code = function.__code__
        if code.co_filename != self.file:
            return None
        paths = self._at.get((code.co_name, code.co_firstlineno), [])
        for path in paths:
            if self._old[path] == code:
                return path
        # pytest compiles the assertions of tests in its own way.
        return paths[0] if len(paths) == 1 and "@pytest_ar" in function.__globals__ else None


def _below(code: CodeType, path: Path = ()) -> list[tuple[Path, CodeType]]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    totals = Counter(constant.co_name for constant in inner)
    met: Counter[str] = Counter()
    found = []
    for constant in inner:
        name = constant.co_name
        below = (*path, (name, met[name], totals[name]))
        met[name] += 1
        found += [(below, constant), *_below(constant, below)]
    return found


def _call(code: CodeType) -> tuple[Any, ...]:
    """How the code is called."""
    flags = code.co_flags & _KIND
    named = code.co_argcount + code.co_kwonlyargcount
    named += bool(flags & CO_VARARGS) + bool(flags & CO_VARKEYWORDS)
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    return (*counts, flags, code.co_varnames[:named])


def _same(old: Any, new: Any) -> bool:
    """Whether two code objects or constants do the same; 1, 1.0 and True are not."""
    if type(old) is not type(new):
        return False
    if isinstance(old, CodeType):
        return _instructions(old) == _instructions(new) and _same(old.co_consts, new.co_consts)
    if isinstance(old, tuple):
        return len(old) == len(new) and all(map(_same, old, new))
    # -0.0 equals 0.0.
    return bool(old == new) if isinstance(old, frozenset) else repr(old) == repr(new)


def _instructions(code: CodeType) -> tuple[Any, ...]:
    handlers = code.co_exceptiontable if sys.version_info >= (3, 11) else b""
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return (code.co_code, handlers, code.co_flags, *names, *_call(code))


def global_names(code: CodeType) -> set[str]:
    """Global variables that code, or code defined inside it, reads."""
    read = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return read.union(*map(global_names, inner))
