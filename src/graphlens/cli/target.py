"""TARGET arguments: a factory in a file or module that says what to run."""

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from graphlens.cli.failures import described, program_error
from graphlens.errors import UsageError, UserProgramError

HELP = "FILE.py:FACTORY or PACKAGE.MODULE:FACTORY"
_SHAPE = (
    "The factory returns (callable, args) for one call, with args a tuple, "
    "or (callable, [args, args, ...]) for several."
)

_MODULE_NAME = re.compile(r"\w+(\.\w+)*")

Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]


def load_target(text: str) -> tuple[Callable[..., Any], Calls]:
    """What a target names: a callable, and its calls in order.

    Raises:
        UsageError: There is no such file, module or factory, or it returns something else.
        UserProgramError: The user's module or factory raised.
    """
    place, separator, name = text.rpartition(":")
    if not separator or not place or not name:
        raise UsageError(f"{text!r} is no target. Give {HELP}. {_SHAPE}")
    module = _load_module(place)
    factory = getattr(module, name, None)
    if not callable(factory):
        found = [n for n in vars(module) if callable(getattr(module, n)) and not n.startswith("_")]
        own = [n for n in found if getattr(getattr(module, n), "__module__", "") == module.__name__]
        listed = f" It has: {', '.join(own)}." if own else ""
        raise UsageError(f"{place} has no function {name!r}.{listed}")
    try:
        made = factory()
    except (Exception, SystemExit) as error:
        raise program_error(f"{text}()", error) from error
    return _checked(made, text)


def _checked(made: Any, text: str) -> tuple[Callable[..., Any], Calls]:
    if not (isinstance(made, tuple) and len(made) == 2 and callable(made[0])):
        raise UsageError(f"{text}() returned {type(made).__name__}. {_SHAPE}")
    fn, given = made
    calls = given if isinstance(given, list) else [given]
    if not all(isinstance(args, tuple) for args in calls):
        kinds = {type(args).__name__ for args in calls if not isinstance(args, tuple)}
        raise UsageError(
            f"{text}() returned arguments that are no tuple but {' and '.join(sorted(kinds))}. "
            f"{_SHAPE} One argument x is (x,)."
        )
    return fn, [(args, {}) for args in calls]


def _load_module(place: str) -> ModuleType:
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise UsageError(f"There is no file {place}. Give {HELP}.")
    if not is_file and not _MODULE_NAME.fullmatch(place):
        raise UsageError(f"{place!r} is no module's name, and no .py file. Give {HELP}.")
    try:
        return _load_file(Path(place)) if is_file else _import(place)
    except UsageError:
        raise
    except SystemExit as error:
        raise UserProgramError(
            f"{place} ended the process while it was loaded ({described(error)}). "
            "Put what runs the program under `if __name__ == '__main__':`."
        ) from error
    except Exception as error:
        raise program_error(f"Loading {place}", error) from error


def _import(name: str) -> ModuleType:
    # `python -m` puts the current folder there, and the console script does not.
    _search_first(os.getcwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(
                f"There is no module {name}. Give {HELP}; "
                "modules are searched as `python -m` does, from the current folder on."
            ) from error
        raise


def _load_file(path: Path) -> ModuleType:
    name = _free_name(path)
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be loaded as Python.")
    module = util.module_from_spec(spec)
    # Dynamo looks functions up by their module's name, and pickling does too.
    sys.modules[name] = module
    _search_first(str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _free_name(path: Path) -> str:
    """The file's own name as a module; another one where a module of that name exists.

    A file called random.py or torch.py must not take the place of what others import.
    """
    name = path.stem
    if name.isidentifier() and not _is_taken(name, path.resolve()):
        return name
    return "graphlens_target_" + re.sub(r"\W", "_", name)


def _is_taken(name: str, path: Path) -> bool:
    if name in sys.modules:
        origin = getattr(sys.modules[name], "__file__", None)
    else:
        try:
            spec = util.find_spec(name)
        except (ImportError, ValueError):
            return True
        if spec is None:
            return False
        origin = spec.origin
    # The current folder may be searched already: then it is the file itself that was found.
    return not (origin and Path(origin).resolve() == path)


def _search_first(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)
