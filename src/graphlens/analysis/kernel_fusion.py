"""Kernels with what Inductor said while it fused: neighbours kept apart, and what buffers hold."""

from collections.abc import Mapping, Sequence

import msgspec

from graphlens.analysis.fusion_refusals import FusionSaid, refusals
from graphlens.analysis.kernel_nodes import in_users_terms
from graphlens.analysis.program_calls import ProgramCall
from graphlens.analysis.replaced_nodes import Replaced
from graphlens.model import Kernel, KernelBuffer, Node, NotFused, Unavailable


def with_fusion(
    kernels: Sequence[Kernel],
    calls: Sequence[ProgramCall],
    said: FusionSaid | None,
    replaced: Replaced | None = None,
    nodes: Mapping[str, Node] | None = None,
) -> list[Kernel]:
    """Adds what Inductor said; kernels as they are where it said nothing.

    Args:
        kernels: Of a program, in order.
        calls: The same as the program has them.
        said: By Inductor; None where that is not known.
        replaced: What its passes put in the place of nodes.
        nodes: Of the graph in the report, by name.
    """
    known = nodes or {}
    values = {} if said is None else said.values
    named = {name: _shown(node, replaced or {}, known) for name, node in values.items()}
    apart: Sequence[tuple[NotFused, ...] | Unavailable] = [k.not_fused for k in kernels]
    if said is not None:
        apart = refusals(calls, [k.inputs for k in kernels], [k.outputs for k in kernels], said)
    return [
        msgspec.structs.replace(
            kernel,
            inputs=_with_nodes(kernel.inputs, named, known),
            outputs=_with_nodes(kernel.outputs, named, known),
            not_fused=why,
        )
        for kernel, why in zip(kernels, apart, strict=True)
    ]


def _shown(node: str, replaced: Replaced, nodes: Mapping[str, Node]) -> str:
    """The node of the report's graph; empty where passes put one in the place of several."""
    names = in_users_terms([node], replaced, nodes)
    return names[0] if len(names) == 1 and names[0] in nodes else ""


def _with_nodes(
    buffers: Sequence[KernelBuffer], named: Mapping[str, str], nodes: Mapping[str, Node]
) -> tuple[KernelBuffer, ...]:
    """A graph's input keeps its name in the program."""
    return tuple(
        msgspec.structs.replace(
            each, node=each.name if each.name in nodes else named.get(each.name, "")
        )
        for each in buffers
    )
