"""What a graph's results are called, and what of them differs besides values."""

import re
from dataclasses import dataclass

import torch

from graphlens.checks.graph_calls import Outcome, WatchedGraph

_ARGUMENT = re.compile(r"^[LGlg]_(.+?)_?$")


@dataclass(frozen=True)
class Names:
    """What a graph's results are called in the user's terms.

    Attributes:
        outputs: Of each output.
        inputs: Of each input, such as ``argument `x```.
        roles: Of each input: ``input``, ``parameter`` or ``buffer``.
    """

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    roles: tuple[str, ...]


def names_in(watched: WatchedGraph) -> Names:
    """Names by the graph's own metadata."""
    placeholders = [node for node in watched.graph.nodes if node.op == "placeholder"]
    inputs = []
    for node in placeholders:
        if node.role in ("parameter", "buffer"):
            inputs.append(f"{node.role} `{node.origin or node.name}`")
        else:
            found = _ARGUMENT.match(node.target)
            inputs.append(f"argument `{found[1] if found else node.name}`")
    output = next(node for node in watched.gm.graph.nodes if node.op == "output")
    values = output.args[0] if isinstance(output.args[0], (list, tuple)) else [output.args[0]]
    return Names(
        outputs=tuple(f"output {number}" for number in range(len(values))),
        inputs=tuple(inputs),
        roles=tuple(node.role or "input" for node in placeholders),
    )


def remarks(eager: Outcome, compiled: Outcome, names: Names) -> tuple[str, ...]:
    """What differs besides values: strides, types and the need of gradients."""
    found = []
    for number, (a, b) in enumerate(zip(eager.outputs, compiled.outputs, strict=False)):
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            continue
        name = names.outputs[number] if number < len(names.outputs) else f"output {number}"
        if type(a) is not type(b):
            kinds = type(b).__name__, type(a).__name__
            found.append(f"{name} is a {kinds[0]}, in eager a {kinds[1]}")
        elif _strides(a) != _strides(b):
            found.append(f"{name} has strides {_strides(b)}, in eager {_strides(a)}")
    if eager.error is None and compiled.error is None:
        differ = sorted(set(eager.needs_gradient) ^ set(compiled.needs_gradient))
        found += [
            f"output {number} needs a gradient only in "
            + ("eager" if number in eager.needs_gradient else "compiled code")
            for number in differ
        ]
    return tuple(found)


def _strides(tensor: torch.Tensor) -> tuple[int, ...] | None:
    if tensor.layout is not torch.strided or tensor.is_nested:
        return None
    # Of sizes 0 and 1 strides say nothing.
    return tuple(
        step if size > 1 else 0 for size, step in zip(tensor.size(), tensor.stride(), strict=True)
    )
