"""The modules around a node, by stable paths.

Dynamo prefixes module paths with the expression it found the root by, which differs with the
way the model was called: ``L['self'].encoder``, ``L['args'][0].model``, ``L['s'].layers``. The
prefix is taken off, and indices are written as parts of the path.
"""

import re
from typing import Any

import torch

from graphlens.model import ModuleCall

_ROOT = re.compile(r"^(?:L|G)\[['\"][^'\"]*['\"]\](?:\[\d+\])?")
_MANGLED_ROOT = re.compile(r"^L__[A-Za-z0-9]+___?")
_ITEM = re.compile(r"\[['\"]?([^\]'\"]*)['\"]?\]")
_MODULES = re.compile(r"\._modules(?=\.|\[|$)")


def module_calls(node: torch.fx.Node) -> tuple[ModuleCall, ...]:
    """Module calls around a node, outermost first; backward nodes name their forward's."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    return tuple(
        ModuleCall(path=module_path(str(path)), type=_type_name(kind))
        for path, kind in _entries(stack)
    )


def module_path(raw: str) -> str:
    """``layer1.0.conv1`` from ``L['self'].layer1[0].conv1``."""
    path = _MODULES.sub("", _MANGLED_ROOT.sub("", _ROOT.sub("", raw)))
    path = _ITEM.sub(r".\1", path)
    # A module called twice is given as `name@1` from the second call on.
    return path.partition("@")[0].strip(".")


def _entries(stack: Any) -> list[tuple[Any, Any]]:
    return [entry for entry in stack.values() if isinstance(entry, tuple) and len(entry) == 2]


def _type_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else str(kind)
