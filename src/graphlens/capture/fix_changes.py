"""How a fix is tried: what it makes different in a capture."""

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from graphlens._torch.settings import FUNCTION_SETS, SWITCHES
from graphlens.capture.isolated_capture import Change, Marker
from graphlens.model import Fix, Unavailable

_SETTING = re.compile(r"^torch\._dynamo\.config\.(?P<name>\w+) = (?P<value>True|False|\d+)$")
_ADDED = re.compile(r"^torch\._dynamo\.config\.(?P<name>\w+)\.add\((?P<function>[\w.]+)\)$")
_KEYWORD = re.compile(r"^torch\.compile\(\.\.\., (?P<name>\w+)=(?P<value>\w+)\)$")
_MARKED = re.compile(r"^torch\._dynamo\.mark_dynamic\((?P<path>.+), (?P<dimension>\d+)\)$")


def change_for(fix: Fix, file: str, target: Callable[..., Any]) -> Change | Unavailable:
    """What a switch or an annotation makes different.

    Args:
        fix: Of kind ``switch`` or ``annotation``.
        file: The user's file that names in the fix belong to.
        target: The function or module that is captured.

    Returns:
        The change, or why the fix cannot be tried.
    """
    setting = _SETTING.match(fix.code)
    if setting and setting["name"] in SWITCHES:
        return Change(settings={setting["name"]: ast.literal_eval(setting["value"])})
    added = _ADDED.match(fix.code)
    if added and added["name"] in FUNCTION_SETS:
        function = _function_named(added["function"], file)
        if isinstance(function, Unavailable):
            return function
        return Change(functions={added["name"]: frozenset({function})})
    keyword = _KEYWORD.match(fix.code)
    if keyword:
        return Change(keywords={keyword["name"]: ast.literal_eval(keyword["value"])})
    marked = _MARKED.match(fix.code)
    if marked:
        finder = _argument_finder(marked["path"], target)
        if isinstance(finder, Unavailable):
            return finder
        return Change(marks=((finder, int(marked["dimension"])),))
    return Unavailable("not tried: GraphLens cannot apply this by itself")


def joined(changes: list[Change]) -> Change:
    """Several changes as one."""
    functions: dict[str, frozenset[Callable[..., Any]]] = {}
    settings: dict[str, Any] = {}
    keywords: dict[str, Any] = {}
    marks: list[tuple[Marker, int]] = []
    for change in changes:
        settings.update(change.settings)
        keywords.update(change.keywords)
        marks += change.marks
        for name, more in change.functions.items():
            functions[name] = functions.get(name, frozenset()) | more
    return Change(settings, functions, keywords, tuple(marks))


def _function_named(name: str, file: str) -> Callable[..., Any] | Unavailable:
    """A function as the user's file names it, such as ``log.info``."""
    unknown = Unavailable(f"not tried: `{name}` is no name of the module, but of a function")
    module = next((one for one in list(sys.modules.values()) if _file_of(one) == file), None)
    first, *rest = name.split(".")
    found: Any = getattr(module, first, getattr(builtins, first, unknown))
    for part in rest:
        found = getattr(found, part, unknown) if found is not unknown else unknown
    return found if callable(found) or isinstance(found, Unavailable) else unknown


def _file_of(module: Any) -> str | None:
    """Without asking the module: one that is loaded late would begin to load."""
    held = module.__dict__ if type(module) is ModuleType else {}
    return held.get("__file__")


def _argument_finder(path: str, target: Callable[..., Any]) -> Marker | Unavailable:
    """Finds what a path such as ``batch['ids']`` names among the arguments of a call."""
    called = target.forward if isinstance(target, torch.nn.Module) else target
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return Unavailable("not tried: the function's arguments have no names")
    steps = _steps(path)
    if not steps or steps[0] not in signature.parameters:
        return Unavailable(f"not tried: {path} is no argument of the function that was given")

    def find(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        value = bound.arguments[str(steps[0])]
        for step in steps[1:]:
            value = value[step]
        return value

    return find


def _steps(path: str) -> list[Any]:
    """``batch['ids'][0]`` as ``["batch", "ids", 0]``; empty for other forms."""
    try:
        node: ast.expr = ast.parse(path, mode="eval").body
    except SyntaxError:
        return []
    steps: list[Any] = []
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        steps.append(node.slice.value)
        node = node.value
    return [node.id, *reversed(steps)] if isinstance(node, ast.Name) else []
