"""What a graph's placeholder stands for.

Dynamo names a placeholder after the Python expression it comes from:
``L_self_modules_layers_modules_0_parameters_weight_`` is ``L['self'].layers[0].weight``
(``inline_inbuilt_nn_modules``, the default since torch 2.5). AOTAutograd notes in a comment
which argument each of its placeholders is (torch 2.13 and 2.14).
"""

import re

from graphlens.model import ModuleCall, Node

_STATE = re.compile(r"^(?P<owner>.*?)_?(?P<kind>parameters|buffers)_(?P<name>\w+?)_?$")
_NOTED = re.compile(r"^PlainAOTInput\(idx=(\d+)\)")
_LOWERED = re.compile(r"^(?:primals_(?P<primal>\d+)|arg(?P<argument>\d+)_1)$")


def placeholder_role(
    name: str, note: str = "", value: str = ""
) -> tuple[str, str, tuple[ModuleCall, ...]]:
    """Role, origin and owning modules of a placeholder.

    Args:
        name: The placeholder's target.
        note: AOTAutograd's comment on it, if any.
        value: Its value as text where it is no tensor.
    """
    if note or _LOWERED.match(name):
        return _lowered_role(note, value), note or name, ()
    if re.fullmatch(r"tangents(_\d+)?", name):
        return "tangent", "", ()
    if value.startswith("Sym("):
        return "symbol", name, ()
    state = _STATE.match(name)
    if state and name.startswith(("L_", "l_", "G_", "g_")):
        path, origin = _demangle(state["owner"], state["name"])
        return state["kind"][:-1], origin, path
    return "input", name, ()


def argument_index(node: Node) -> int | None:
    """Which of the Dynamo graph's arguments a lowered placeholder is; None if it is none.

    AOTAutograd names forward arguments ``primals_1``, ``primals_2``, ... and inference arguments
    ``arg0_1``, ``arg1_1``, ...; the comment, where there is one, says it outright.
    """
    noted = _NOTED.match(node.origin)
    if noted:
        return int(noted[1])
    named = _LOWERED.match(node.name) if node.origin == node.name else None
    if named is None:
        return None
    return int(named["argument"]) if named["argument"] else int(named["primal"]) - 1


def _lowered_role(note: str, value: str) -> str:
    if value.startswith("Sym("):
        return "symbol"
    if "Tangent" in note:
        return "tangent"
    if "Philox" in note:
        return "random"
    return "input"


def _demangle(owner: str, name: str) -> tuple[tuple[ModuleCall, ...], str]:
    """Module path and origin from ``L_self_modules_layers_modules_0`` and ``weight``."""
    parts = [part.strip("_") for part in re.split(r"_modules_", owner + "_")]
    path = ".".join(parts[1:])
    modules = tuple(ModuleCall(path=".".join(parts[1 : end + 1])) for end in range(1, len(parts)))
    return modules, f"{path}.{name}" if path else name
