"""TARGET arguments: a factory in a file or module that says what to run."""

import sys
from collections.abc import Callable
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from graphlens.errors import UsageError, UserProgramError

HELP = "FILE.py:FACTORY or PACKAGE.MODULE:FACTORY"
_SHAPE = (
    "The factory returns (callable, args) for one call, with args a tuple, "
    "or (callable, [args, args, ...]) for several."
)

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
    except Exception as error:
        raise UserProgramError(f"{text}() raised {type(error).__name__}: {error}") from error
    return _checked(made, text)


def _checked(made: Any, text: str) -> tuple[Callable[..., Any], Calls]:
    if not (isinstance(made, tuple) and len(made) == 2 and callable(made[0])):
        raise UsageError(f"{text}() returned {type(made).__name__}. {_SHAPE}")
    fn, given = made
    calls = given if isinstance(given, list) else [given]
    if not all(isinstance(args, tuple) for args in calls):
        raise UsageError(f"{text}() returned arguments that are no tuples. {_SHAPE}")
    return fn, [(args, {}) for args in calls]


def _load_module(place: str) -> ModuleType:
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise UsageError(f"There is no file {place}. Give {HELP}.")
    try:
        return _load_file(Path(place)) if is_file else _import(place)
    except UsageError:
        raise
    except Exception as error:
        raise UserProgramError(f"Loading {place} raised {type(error).__name__}: {error}") from error


def _import(name: str) -> ModuleType:
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
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be loaded as Python.")
    module = util.module_from_spec(spec)
    # Dynamo looks functions up by their module's name, and pickling does too.
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module
