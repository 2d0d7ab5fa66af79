"""The kernels of a graph: its generated program joined with its nodes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from graphlens.analysis.generated_programs import GeneratedProgram
from graphlens.analysis.kernel_bytes import inputs_of, outputs_of, read_bytes, written_bytes
from graphlens.analysis.kernel_flops import flops_of
from graphlens.analysis.kernel_fusion import with_fusion
from graphlens.analysis.kernel_nodes import in_users_terms, nodes_by_call, nodes_without_kernel
from graphlens.analysis.operator_kinds import is_view
from graphlens.analysis.program_calls import ProgramCall, ProgramCalls
from graphlens.analysis.readable_graph import parse_readable
from graphlens.analysis.replaced_nodes import replaced_nodes
from graphlens.model import NOT_MAPPED, Graph, Kernel, Node, Unavailable

_NO_ORIGINS = Unavailable("a cache answered: it does not say from which Dynamo nodes these came")


Origins = Mapping[str, Sequence[str]]


class GraphKernels(NamedTuple):
    """What computes a graph.

    Attributes:
        kernels: In the order of execution.
        unassigned: Operators that no kernel computes, and why.
    """

    kernels: tuple[Kernel, ...] | Unavailable
    unassigned: tuple[tuple[str, str], ...] | Unavailable


def kernels_of(graph: Graph, program: GeneratedProgram, origins: Origins) -> GraphKernels:
    """The kernels of a graph.

    Args:
        graph: A lowered graph.
        program: What was generated for it.
        origins: By node, the Dynamo nodes it came from; torch's records stand in where it is not
            there.
    """
    inputs = {n.name: n.tensor for n in graph.nodes if n.op == "placeholder" and n.tensor}
    try:
        calls = ProgramCalls(program.code, inputs)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _neither(f"the generated program could not be read ({type(error).__name__})")
    if not calls.found:
        return _neither("the generated program has no function 'call': it is of an unknown form")
    lowered = _by_name(parse_readable(program.graph)[0]) if program.graph else {}
    known = lowered or _by_name(graph.nodes)
    if program.kernels is None or not _is_of(program.kernels, calls.calls):
        made = [_kernel(call, calls, None, known) for call in calls.calls]
        made = with_fusion(made, calls.calls, program.fusion)
        return GraphKernels(tuple(made), NOT_MAPPED if made else ())
    names = nodes_by_call(calls.calls, program.kernels, known)
    shown = _by_name(graph.nodes)
    replaced = replaced_nodes(graph.nodes, lowered, program.replaced)
    kernels = [
        _placed(
            _kernel(call, calls, each, known),
            in_users_terms(each, replaced, shown),
            graph,
            _origins(graph.stage, each, origins, program.origins),
        )
        for call, each in zip(calls.calls, names, strict=True)
    ]
    kernels = with_fusion(kernels, calls.calls, program.fusion, replaced, shown)
    computed = {name for kernel in kernels for name in nodes_of(kernel)}
    rest = nodes_without_kernel(graph.nodes, computed, lowered, replaced)
    return GraphKernels(tuple(kernels), tuple(rest))


def _origins(
    stage: str, names: Sequence[str], seen: Origins, logged: Origins
) -> tuple[str, ...] | Unavailable:
    """Dynamo nodes of a kernel's nodes. What torch logs of a backward graph is a part of them."""
    if stage == "backward" and not seen:
        return _NO_ORIGINS
    found = (seen.get(name) or logged.get(name, ()) for name in names)
    return tuple(dict.fromkeys(origin for each in found for origin in each))


def nodes_of(kernel: Kernel) -> tuple[str, ...]:
    """Names of the nodes a kernel computes; none where they are not known."""
    return () if isinstance(kernel.nodes, Unavailable) else kernel.nodes


def _neither(why: str) -> GraphKernels:
    return GraphKernels(Unavailable(why), Unavailable(why))


def _by_name(nodes: Sequence[Node]) -> dict[str, Node]:
    return {node.name: node for node in nodes}


def _is_of(listed: Mapping[str, Sequence[str]], calls: Sequence[ProgramCall]) -> bool:
    """Whether a list of nodes by handle is of this program: all calls that it names are there."""
    handles = {call.handle for call in calls} - {""}
    return bool(handles) and handles >= set(listed)


def _kernel(
    call: ProgramCall, calls: ProgramCalls, names: Sequence[str] | None, known: Mapping[str, Node]
) -> Kernel:
    """A kernel without its places: those are of the graph that the user knows."""
    nodes = None if names is None else [known[name] for name in names if name in known]
    lost = names is not None and nodes is not None and len(nodes) < len(names)
    unknown = Unavailable("some of its operators are not in the graph that torch logged")
    counted = NOT_MAPPED if nodes is None else unknown if lost else None
    inputs, outputs = inputs_of(call), outputs_of(call, calls.outputs(call), nodes)
    return Kernel(
        name=call.name,
        language=call.language,
        call=call.call,
        handle=call.handle,
        source=call.source,
        nodes=NOT_MAPPED if names is None else tuple(names),
        inputs=inputs,
        outputs=outputs or (),
        read_bytes=read_bytes(call, inputs, nodes),
        written_bytes=written_bytes(call, outputs, nodes),
        flops=counted or flops_of(nodes or (), known),
        fused=counted or sum(not is_view(node) for node in nodes or ()),
    )


def _placed(
    kernel: Kernel,
    names: tuple[str, ...],
    graph: Graph,
    origins: tuple[str, ...] | Unavailable,
) -> Kernel:
    """The kernel with what the graph says of its nodes: lines, modules, Dynamo nodes."""
    wanted = set(names)
    nodes = [node for node in graph.nodes if node.name in wanted]
    return msgspec.structs.replace(
        kernel,
        nodes=names,
        origins=origins,
        places=tuple(dict.fromkeys(node.source for node in nodes if node.source)),
        modules=tuple(dict.fromkeys(node.module for node in nodes if node.module)),
    )
