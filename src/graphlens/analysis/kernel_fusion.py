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
    named |= {name: name for name in known}  # a graph's input keeps its name in the program
    apart: Sequence[tuple[NotFused, ...] | Unavailable] = [k.not_fused for k in kernels]
    if said is not None:
        apart = refusals(calls, [k.outputs for k in kernels], said)
    held: dict[str, str] = {}  # by memory, the name under which it was written last
    found = []
    for kernel, call, why in zip(kernels, calls, apart, strict=True):
        inputs = [
            _with_node(each, named.get(held.get(b.storage, b.name) if b else "", ""))
            for each, b in zip(kernel.inputs, call.inputs, strict=True)
        ]
        outputs = [_with_node(each, named.get(each.name, "")) for each in kernel.outputs]
        held |= {each.storage: each.name for each in call.outputs or () if each}
        found.append(
            msgspec.structs.replace(
                kernel, inputs=tuple(inputs), outputs=tuple(outputs), not_fused=why
            )
        )
    return found


def _shown(node: str, replaced: Replaced, nodes: Mapping[str, Node]) -> str:
    """The node of the report's graph; empty where passes put one in the place of several."""
    names = in_users_terms([node], replaced, nodes)
    return names[0] if len(names) == 1 and names[0] in nodes else ""


def _with_node(buffer: KernelBuffer, node: str) -> KernelBuffer:
    return msgspec.structs.replace(buffer, node=node)
