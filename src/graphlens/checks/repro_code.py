"""Source text of a graph and of options, for a script that stands alone."""

import re
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

_PLAIN = (bool, int, float, str, type(None))
# What the code of a graph may name without importing it.
_KNOWN = {
    "inf": "from math import inf",
    "nan": "from math import nan",
    "device": "from torch import device",
    "NoneType": "from types import NoneType",
}


class UnwritableError(Exception):
    """Something has no source text."""


@dataclass
class GraphSource:
    """A graph as source.

    Attributes:
        imports: Lines.
        classes: Text of the classes; the last is the graph's.
        name: Of the graph's class.
        attributes: Tensors that the graphs hold, by class and name.
    """

    imports: set[str] = field(default_factory=set)
    classes: list[str] = field(default_factory=list)
    name: str = "Graph"
    attributes: dict[str, Any] = field(default_factory=dict)


def graph_source(gm: torch.fx.GraphModule) -> GraphSource:
    """A graph as a module's class, bodies of higher-order operators as others.

    Raises:
        UnwritableError: It calls or holds what has no source.
    """
    made = GraphSource()
    _add_class(gm, "Graph", made)
    return made


def _add_class(gm: torch.fx.GraphModule, name: str, made: GraphSource) -> None:
    lines = []
    held = {
        str(node.target): node for node in gm.graph.nodes if node.op in ("get_attr", "call_module")
    }
    for target in held:
        value = getattr(gm, target, None)
        if isinstance(value, torch.fx.GraphModule):
            inner = f"{name}_{target}"
            _add_class(value, inner, made)
            lines.append(f"self.{target} = {inner}()")
        elif isinstance(value, torch.Tensor):
            made.attributes[f"{name}.{target}"] = value.detach()
            lines.append(f'self.{target} = DATA["attributes"]["{name}.{target}"]')
        else:
            raise UnwritableError(f"the graph holds `{target}`, a {type(value).__name__}")
    code = gm.graph.python_code("self")
    for known, value in code.globals.items():
        if re.search(rf"(?<![\w.]){known}\b", code.src):
            made.imports.add(_import(known, value))
    start = "".join(f"        {line}\n" for line in lines)
    made.classes.append(
        f"class {name}(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n{start}\n"
        + re.sub(r"^(?=.)", "    ", code.src.strip("\n"), flags=re.MULTILINE)
        + "\n"
    )


def _import(name: str, value: Any) -> str:
    if name in _KNOWN:
        return _KNOWN[name]
    if isinstance(value, types.ModuleType):
        top = value.__name__
        return f"import {top}" if top.split(".")[0] == name else f"import {top} as {name}"
    found = importable(value)
    if not found:
        raise UnwritableError(f"the graph calls `{name}`, which cannot be imported")
    return f"from {found[0]} import {found[1]} as {name}"


def importable(value: Any) -> tuple[str, str] | None:
    """The module and name under which a function, class or instance is found; None for others."""
    module = getattr(value, "__module__", None)
    found = _named(value, module)
    if found or isinstance(value, (type, types.FunctionType)) or module is None:
        return found
    return _named(value, type(value).__module__)


def _named(value: Any, module: Any) -> tuple[str, str] | None:
    space = sys.modules.get(str(module))
    if space is None or module == "__main__":
        return None
    own = getattr(value, "__name__", "")
    names = [own] if own else []
    names += [name for name, other in vars(space).items() if other is value]
    for name in names:
        if name.isidentifier() and getattr(space, name, None) is value:
            return str(module), name
    return None


def option_source(options: Mapping[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Options of ``torch.compile`` as source.

    Returns:
        Import lines, lines of the dictionary, and the names of those that have no source.
    """
    imports, lines, missing = [], [], []
    for name, value in options.items():
        found = None if _is_plain(value) else _made_again(value)
        if _is_plain(value):
            lines.append(f"    {name!r}: {value!r},")
        elif found is None:
            missing.append(name)
            lines.append(f"    # {name!r}: ...,  # give it: {_one_line(value)}")
        else:
            imports.append(found[0])
            lines.append(f"    {name!r}: {found[1]},")
    return imports, lines, missing


def _made_again(value: Any) -> tuple[str, str] | None:
    if found := importable(value):
        return f"from {found[0]} import {found[1]}", found[1]
    kind = importable(type(value))
    try:
        same = kind and type(value)().uuid() == value.uuid() and value.uuid() is not None
    except Exception:  # noqa: BLE001  a class that takes arguments
        return None
    return (f"from {kind[0]} import {kind[1]}", f"{kind[1]}()") if kind and same else None


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, (*value, *value.values())))
    return isinstance(value, _PLAIN)


def _one_line(value: Any) -> str:
    return re.sub(r"\s+", " ", f"a {type(value).__qualname__} of {type(value).__module__}")
