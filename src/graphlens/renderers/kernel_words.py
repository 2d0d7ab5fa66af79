"""What is said of a kernel's call, the same in text and on the page."""

from collections.abc import Callable, Iterator

from graphlens.analysis.diagram_text import dtype_text, shape_text, value_text
from graphlens.analysis.kernel_lookup import KernelCall
from graphlens.analysis.operators import operator_label
from graphlens.analysis.side_by_side import LineNodes, SideBySide
from graphlens.model import Kernel, KernelBuffer, Node, NotFused, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.kernel_table import flops_text
from graphlens.renderers.measures import size_of_memory
from graphlens.renderers.wording import counted, graph_title, location_text, state_name

# What Inductor's shortest reasons mean, on torch 2.11 to 2.14; its words stay beside ours.
_MEANINGS = {
    "memory deps did not match": "one reads other elements of a tensor than the other has just "
    "written, such as a whole row",
    "intermediate nodes between node1 & node2": "something else has to run between the two",
    "no shared data": "no loop over both would save a read or a write",
    "no shared data due to indexing mismatch": "they take the same data in different orders",
    "exceeds max fusion": "together they would be more operations than "
    "torch._inductor.config.max_fusion_size",
}


def kernel_heading(call: KernelCall, root: str) -> str:
    """Which kernel it is: name, language, place in the program, graph."""
    graph, number, kernel = call
    count = 0 if isinstance(graph.kernels, Unavailable) else len(graph.kernels)
    which = f"kernel {number + 1} of {count} of {graph_title(graph, root).heading}"
    return one_line(" · ".join((kernel.handle or kernel.name, kernel.language, which)))


def kernel_facts(kernel: Kernel) -> str:
    """How much it computes and moves."""
    facts = [
        _or_unknown(kernel.fused, lambda n: counted(n, "operator")),
        "reads " + _or_unknown(kernel.read_bytes, size_of_memory),
        "writes " + _or_unknown(kernel.written_bytes, size_of_memory),
        _or_unknown(kernel.flops, flops_text) + " flops",
    ]
    return " · ".join(facts)


def unknown_facts(kernel: Kernel) -> Iterator[str]:
    """Why numbers among the facts are missing, each reason once."""
    values = (kernel.fused, kernel.read_bytes, kernel.written_bytes, kernel.flops)
    reasons = [value.reason for value in values if isinstance(value, Unavailable)]
    yield from (f"?: {one_line(reason)}" for reason in dict.fromkeys(reasons))


def tensors_given(shown: SideBySide) -> Iterator[tuple[str, str]]:
    """What the call reads and writes, as pairs of ``reads`` or ``writes`` and a description."""
    kernel = shown.call.kernel
    named = {
        tensor.name: name for name, both in shown.pointers.items() for tensor in both if tensor
    }
    for what, tensors in (("reads", kernel.inputs), ("writes", kernel.outputs)):
        for tensor in tensors:
            yield what, _tensor(tensor, named.get(tensor.name, ""), shown)


def _tensor(tensor: KernelBuffer, pointer: str, shown: SideBySide) -> str:
    """``buf5 4×16 f32 in in_out_ptr1: mul_4 (A)``."""
    size = "of unknown shape" if isinstance(tensor.shape, Unavailable) else shape_text(tensor.shape)
    text = f"{tensor.name} {size} {dtype_text(tensor.dtype)}".rstrip()
    text += f" in {pointer}" if pointer else ""
    means = value_name(tensor, shown)
    return one_line(f"{text}: {means}" if means and means != tensor.name else text)


def value_name(tensor: KernelBuffer, shown: SideBySide) -> str:
    """The node whose value a tensor holds; an input by what it stands for."""
    node = shown.nodes.get(tensor.node)
    if node is None:
        return ""
    if node.op in ("placeholder", "get_attr") and node.origin:
        return state_name(node)
    return node.name


def line_text(line: LineNodes, root: str) -> str:
    """``A model.py:12: y = self.norm(x)``."""
    if line.place is None:
        return f"{line.mark} line not known"
    text = f"{line.mark} {location_text(line.place, root)}: {line.place.code}".rstrip(": ")
    if line.called_from:
        text += f"  (called from {location_text(line.called_from, root)})"
    return one_line(text)


def node_text(node: Node) -> str:
    """``mul_4 = aten.mul(mul_2, add_2) 4×16 f32``."""
    value = value_text(node)
    return one_line(f"{node.name} = {operator_label(node)}({', '.join(node.args)}) {value}")


def margin(shown: SideBySide) -> list[str]:
    """Beside each line of source: what it loads (←) and stores (→), with the letter of its line."""
    found = []
    for line in shown.source:
        marks = [f"← {_short(tensor, shown)}" for tensor in line.loads]
        marks += [f"→ {_short(tensor, shown)}" for tensor in line.stores]
        found.append(one_line(" ".join(marks)))
    return found


def _short(tensor: KernelBuffer, shown: SideBySide) -> str:
    mark = shown.marks.get(tensor.node, "")
    return f"{value_name(tensor, shown) or tensor.name} {mark}".rstrip()


def not_fused_text(apart: NotFused) -> str:
    """A neighbour and why it is a kernel of its own."""
    meaning = _MEANINGS.get(apart.reason, "")
    text = f'Inductor: "{apart.reason}" ({meaning})' if meaning else apart.reason
    return one_line(f"{apart.kernel}: {text}")


def _or_unknown(value: int | Unavailable, text: Callable[[int], str]) -> str:
    return "?" if isinstance(value, Unavailable) else text(value)
