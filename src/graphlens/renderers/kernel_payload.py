"""What the viewer shows of kernels: facts, lines with their nodes, and source, as compact data."""

from typing import Any

from graphlens.analysis.kernel_lookup import KernelCall
from graphlens.analysis.kernels import nodes_of
from graphlens.analysis.program_pairs import program_pairs
from graphlens.analysis.side_by_side import SideBySide, by_origin, side_by_side
from graphlens.model import Graph, Kernel, Unavailable
from graphlens.renderers.escape import one_line, printable
from graphlens.renderers.gpu_words import machine_facts, machine_summary, other_programs
from graphlens.renderers.kernel_time_words import time_cells
from graphlens.renderers.kernel_words import (
    kernel_facts,
    line_text,
    margin,
    not_fused_text,
    tensors_given,
    unknown_facts,
)

MOST_SOURCE = 2_000_000
"""Characters of all sources of a graph; what is beyond stays in the JSON report."""
_LEFT_OUT = "The source is in report.json: this page has as much as it can."


def kernel_payload(graph: Graph, root: str = "") -> dict[str, Any]:
    """Kernels, and of each node those that compute it.

    ``list`` has the kernels in the order of execution, ``of`` their numbers by node name. The
    viewer's ``kernels.js`` reads an entry; of a source that was there before it has the number.
    """
    kernels = () if isinstance(graph.kernels, Unavailable) else graph.kernels
    place = {node.name: number for number, node in enumerate(graph.nodes)}
    of: dict[str, list[int]] = {}
    before: dict[str, int] = {"": -1}
    beside = {id(pair.gpu): pair.cpu for pair in program_pairs(graph)}
    left, entries = MOST_SOURCE, []
    for number, kernel in enumerate(kernels):
        for name in nodes_of(kernel):
            of.setdefault(name, []).append(number)
        entry = _entry(side_by_side(KernelCall(graph, number, kernel)), place, root)
        if kernel.source in before:
            entry["source"], entry["same"] = [], before[kernel.source]
        elif len(kernel.source) > left:
            entry["source"], entry["remark"] = [], _LEFT_OUT
        else:
            left -= len(kernel.source)
            before[kernel.source] = number
        entry["other"] = []
        for title, text in other_programs(kernel, beside.get(id(kernel), ())):
            if len(text) <= left:
                left -= len(text)
                entry["other"].append([one_line(title), printable(text)])
        entries.append(entry)
    return {"list": entries, "of": of}


def _entry(shown: SideBySide, place: dict[str, int], root: str) -> dict[str, Any]:
    kernel = shown.call.kernel
    return {
        "name": one_line(kernel.handle or kernel.name),
        "language": one_line(kernel.language),
        "time": _time(shown.call.graph, kernel),
        "facts": " · ".join(
            [kernel_facts(kernel), *machine_summary(kernel), *unknown_facts(kernel)]
        ),
        "call": one_line(kernel.call),
        "tensors": [list(pair) for pair in tensors_given(shown)],
        "apart": _apart(kernel),
        "machine": list(machine_facts(kernel)),
        "lines": [
            [
                line_text(line, root),
                [
                    [one_line(", ".join(origins)), [place[node.name] for node in nodes]]
                    for origins, nodes in by_origin(line.nodes)
                ],
            ]
            for line in shown.lines
        ],
        "source": [
            [mark, printable(line.text)]
            for mark, line in zip(margin(shown), shown.source, strict=True)
        ],
        "same": -1,
        "remark": "" if kernel.source else "A call into a library: there is no generated source.",
    }


def _time(graph: Graph, kernel: Kernel) -> str:
    if isinstance(kernel.seconds, Unavailable):
        return ""
    time, share, bound = time_cells(graph, kernel)
    return f"{time}, {share} of the graph; {bound}"


def _apart(kernel: Kernel) -> list[str]:
    if isinstance(kernel.not_fused, Unavailable):
        return [f"not known: {one_line(kernel.not_fused.reason)}"]
    return [not_fused_text(each) for each in kernel.not_fused]
