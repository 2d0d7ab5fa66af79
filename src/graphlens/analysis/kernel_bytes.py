"""What a kernel reads and writes, from the tensors it is given."""

from collections.abc import Sequence

from graphlens.analysis.operator_kinds import BY_INDEX, PART_WRITES, PARTS, operator_name
from graphlens.analysis.program_buffers import Buffer, total_bytes
from graphlens.analysis.program_calls import ProgramCall
from graphlens.model import KernelBuffer, Node, Unavailable

# How many tensors these give; a program names only those that it uses.
_RESULTS = {
    "_scaled_dot_product_flash_attention_for_cpu": 2,
    "_scaled_dot_product_flash_attention_for_cpu_backward": 3,
    "cummax": 2,
    "cummin": 2,
    "kthvalue": 2,
    "mode": 2,
    "sort": 2,
    "topk": 2,
}
_UNKNOWN = KernelBuffer(
    name="?", shape=Unavailable("the program does not say which tensor this is"),
    bytes=Unavailable("the program does not say which tensor this is"),
)  # fmt: skip
_IN_PLACE = Unavailable("it may change a part of its first argument only")


def inputs_of(call: ProgramCall) -> tuple[KernelBuffer, ...]:
    """What a call reads."""
    return tuple(map(_described, call.inputs))


def outputs_of(
    call: ProgramCall, buffers: Sequence[Buffer | None] | None, nodes: Sequence[Node] | None
) -> tuple[KernelBuffer, ...] | None:
    """What a call writes; None where that is not known.

    Args:
        call: The call.
        buffers: As the program has them.
        nodes: That it computes: a dtype that the program does not say is that of its node.
    """
    if buffers is None:
        return None
    dtypes = {node.dtype for node in nodes or () if node.tensor}
    only = dtypes.pop() if len(dtypes) == 1 and call.result else None
    return tuple(
        _described(_typed(each, only) if each and each.dtype is None else each) for each in buffers
    )


def read_bytes(
    call: ProgramCall, inputs: Sequence[KernelBuffer], nodes: Sequence[Node] | None
) -> int | Unavailable:
    """Bytes of a call's inputs."""
    if call.in_place:
        return _IN_PLACE
    by_index = _first(call, nodes, BY_INDEX)
    if by_index:
        return Unavailable(f"how much {by_index} reads depends on its indices")
    part = _first(call, nodes, PARTS) if call.source else ""
    if part:
        return Unavailable(f"it reads what {part} takes, a part of its input")
    return total_bytes(inputs)


def written_bytes(
    call: ProgramCall, outputs: Sequence[KernelBuffer] | None, nodes: Sequence[Node] | None
) -> int | Unavailable:
    """Bytes of a call's outputs."""
    if outputs is None:
        return Unavailable("the program does not say what the call writes")
    if call.in_place:
        return _IN_PLACE
    part = _first(call, nodes, PART_WRITES) if call.source else ""
    if part:
        return Unavailable(f"{part} writes a part of its output")
    if call.result and (missing := _missing(call, outputs)):
        return Unavailable(missing)
    return total_bytes(outputs)


def _missing(call: ProgramCall, outputs: Sequence[KernelBuffer]) -> str:
    """Why the results that the program names may not be all; empty where they are."""
    name = next((part for part in call.name.split(".") if part in _RESULTS), "")
    if name:
        known = _RESULTS[name]
    elif "convolution_backward" in call.name and call.arguments:
        known = call.arguments[-1].count("True")
    elif all(each.name == call.result for each in outputs):
        return ""
    else:
        return "the program does not use all results of the call, and does not say their size"
    return "" if len(outputs) == known else "the program does not say the size of unused results"


def _first(call: ProgramCall, nodes: Sequence[Node] | None, names: frozenset[str]) -> str:
    """The first operator of a call that is one of some; by the kernel's name without nodes."""
    if nodes is None:
        return next((name for name in sorted(names) if f"_{name}_" in f"_{call.name}_"), "")
    return next((operator_name(n) for n in nodes if operator_name(n) in names), "")


def _typed(buffer: Buffer, dtype: str | None) -> Buffer:
    return Buffer(buffer.name, buffer.storage, buffer.shape, buffer.stride, dtype)


def _described(buffer: Buffer | None) -> KernelBuffer:
    return _UNKNOWN if buffer is None else buffer.described()
