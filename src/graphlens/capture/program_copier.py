"""Copies of those parts of a program that lead to changed code; all else is shared."""

import builtins
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch

from graphlens._torch.marked import is_marked
from graphlens.analysis.places import is_library
from graphlens.capture.class_copies import NotCopied, class_over, instance_of
from graphlens.capture.new_codes import CannotCopy, NewCodes, global_names
from graphlens.capture.program_graph import ProgramGraph, cell_contents
from graphlens.capture.wrapping import rewrapped, wrapped

# Dynamo looks a function's globals up in the module of their __name__, except for names that
# begin so: it takes the dictionary itself then (torch 2.11 and 2.13; 2.14 compares the two).
_NO_MODULE = "namedtuple_"

_FILLED = (list, deque, set, dict, OrderedDict, defaultdict)


class ProgramCopier:
    """Copies parts, each once.

    Args:
        codes: Gives a function's new code.
        program: That the parts are of.
        copied: Identities of the parts to copy.
        needed: Identities of those among them that lead to changed code, and must be copied.
    """

    def __init__(
        self, codes: NewCodes, program: ProgramGraph, copied: set[int], needed: set[int]
    ) -> None:
        self._codes = codes
        self._program = program
        self._copied = copied
        self._needed = needed
        self._made: dict[int, Any] = {}
        self._modules: dict[int, ModuleType] = {}  # by the identity of the user's namespace
        self._later: deque[Callable[[], None]] = deque()

    def copy(self, part: Any) -> Any:
        """The copy of a part, with all that it leads to.

        Raises:
            CannotCopy: Something on the way to changed code cannot be copied.
        """
        made = self.new(part)
        while self._later:
            self._later.popleft()()
        return made

    def new(self, part: Any) -> Any:
        """The copy of a part, perhaps not filled yet; the part itself where it is shared."""
        if id(part) not in self._copied:
            return part
        if id(part) not in self._made:
            try:
                self._made[id(part)] = self._make(part)
            except NotCopied as reason:
                if id(part) in self._needed:
                    raise CannotCopy(f"the change is reached through {reason}") from reason
                self._made[id(part)] = part
        return self._made[id(part)]

    def _make(self, part: Any) -> Any:
        kind = type(part)
        if kind is FunctionType:
            return self._function(part)
        if kind is CellType:
            return self._cell(part)
        if kind in _FILLED:
            return self._container(part)
        if issubclass(kind, (tuple, frozenset)):
            make = getattr(kind, "_make", kind)  # of a named tuple
            return make(map(self.new, part))
        if kind is ModuleType:
            return self._module(vars(part))
        if issubclass(kind, type):
            return self._class(part)
        if wrapped(part):
            return rewrapped(part, self.new)
        return self._instance(part)

    def _function(self, function: FunctionType) -> FunctionType:
        if is_marked(function):
            raise NotCopied(f"{function.__name__}, which Dynamo knows by its identity")
        code, namespace = function.__code__, function.__globals__
        if not is_library(code.co_filename):
            code = self._codes.code_for(function)
            self._check_globals(function)
            namespace = vars(self._module(namespace))
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        closure = tuple(self.new(cells[name]) for name in code.co_freevars)
        made = FunctionType(code, namespace, function.__name__, None, closure)
        self._made[id(function)] = made
        made.__defaults__ = self.new(function.__defaults__)
        made.__kwdefaults__ = self.new(function.__kwdefaults__)
        for name in ("__qualname__", "__module__", "__doc__", "__annotations__", "__type_params__"):
            if hasattr(function, name):
                setattr(made, name, getattr(function, name))
        vars(made).update(self.new(vars(function)))
        return made

    def _check_globals(self, function: FunctionType) -> None:
        """Refuses code for which the file would have to be run again."""
        new = global_names(self._codes.code_for(function)) - global_names(function.__code__)
        for name in sorted(new):
            if name not in function.__globals__ and not hasattr(builtins, name):
                raise CannotCopy(f"the rewritten {function.__name__} uses {name}, which is new")

    def _cell(self, cell: CellType) -> CellType:
        made = CellType()

        def fill() -> None:
            for held in cell_contents(cell):
                made.cell_contents = self.new(held)

        self._later.append(fill)
        return made

    def _module(self, namespace: dict[str, Any]) -> ModuleType:
        """A module with a namespace of its own, in which functions are those of the copy."""
        if id(namespace) in self._modules:
            return self._modules[id(namespace)]
        name = str(namespace.get("__name__", ""))
        made = ModuleType(name if name.startswith(_NO_MODULE) else _NO_MODULE + name)
        self._modules[id(namespace)] = made
        read = self._program.names_read(namespace)
        held = {n: v for n, v in namespace.items() if n in read or _is_of_any_module(n, v)}
        vars(made).update({**held, "__name__": made.__name__})

        def fill() -> None:
            vars(made).update({n: self.new(v) for n, v in held.items() if id(v) in self._copied})

        self._later.append(fill)
        return made

    def _container(self, part: Any) -> Any:
        made = self._made[id(part)] = part.copy()
        if isinstance(part, dict):
            made.update({key: self.new(held) for key, held in part.items()})
        else:
            made.clear()
            (made.update if isinstance(part, set) else made.extend)(map(self.new, list(part)))
        return made

    def _class(self, part: type) -> type:
        made = class_over(part, tuple(map(self.new, part.__bases__)))
        self._made[id(part)] = made
        for name, held in list(vars(part).items()):
            if id(held) in self._copied:
                setattr(made, name, self.new(held))
        return made

    def _instance(self, part: Any) -> Any:
        made = self._made[id(part)] = instance_of(self.new(type(part)), part)
        is_module = issubclass(type(part), torch.nn.Module)
        for name, held in list(vars(part).items()):
            new = self.new(held)
            if new is held and is_module and type(held) in _FILLED:
                new = held.copy()  # what is registered in the copy stays there
            vars(made)[name] = new
        return made


def _is_of_any_module(name: str, value: Any) -> bool:
    """Whether a global variable is kept that no code of the program reads.

    Others are not: Dynamo never lets go of a namespace that it compiled in (torch 2.11, 2.13,
    2.14), nor so of a model of the user's in it.
    """
    if name.startswith("__") and name.endswith("__"):
        return True
    return issubclass(type(value), (FunctionType, ModuleType, type))
