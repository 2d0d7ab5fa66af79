"""The kernels of a graph's program for a GPU beside those of its program for the CPU."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphlens.analysis.kernels import nodes_of
from graphlens.analysis.operator_kinds import CONSTANTS, is_view, operator_name
from graphlens.model import CpuProgram, Graph, Kernel, Node, Unavailable


class Pair(NamedTuple):
    """A kernel for the GPU with those for the CPU that compute some of the same operators.

    Attributes:
        gpu: None for kernels of the CPU whose operators no kernel of the GPU computes.
        cpu: In the order of execution.
        operators: Names of the nodes they have in common; of the CPU alone where ``gpu`` is None.
    """

    gpu: Kernel | None
    cpu: tuple[Kernel, ...]
    operators: tuple[str, ...]


def program_pairs(graph: Graph) -> list[Pair]:
    """All kernels of both programs, in the order of the GPU's.

    An operator may be computed by several kernels of a program, as it is computed again where that
    is cheaper than to keep it; views and constants, which every kernel makes for itself, join none.
    """
    other = graph.cpu_program
    if isinstance(graph.kernels, Unavailable) or not isinstance(other, CpuProgram):
        return []
    if isinstance(other.kernels, Unavailable):
        return []
    known = {node.name: node for node in graph.nodes}
    own = [(kernel, _computed(kernel, known)) for kernel in other.kernels]
    pairs, met = [], set()
    for kernel in graph.kernels:
        names = _computed(kernel, known)
        common = [(at, set(names) & set(theirs)) for at, (_, theirs) in enumerate(own)]
        joined = [at for at, both in common if both]
        met.update(joined)
        shared = set().union(*(both for _, both in common))
        pairs.append(Pair(kernel, tuple(own[at][0] for at in joined), _in_order(names, shared)))
    alone = [one for at, one in enumerate(own) if at not in met]
    return pairs + [Pair(None, (kernel,), tuple(names)) for kernel, names in alone]


def _computed(kernel: Kernel, known: Mapping[str, Node]) -> list[str]:
    nodes = [known[name] for name in nodes_of(kernel) if name in known]
    return [n.name for n in nodes if not is_view(n) and operator_name(n) not in CONSTANTS]


def _in_order(names: Sequence[str], wanted: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in wanted)
