"""Which ATen nodes each kernel of a program computes, and why a node is computed by none.

Torch lists for each call of a kernel the nodes that its code comes from. For a call of a library
that list has the operator itself and those that its arguments came from, though other kernels
compute these; and for the kernel that lays out the library's input it has the library's operator.
An operator belongs to the library call that bears its name.
"""

from collections.abc import Iterator, Mapping, Sequence

from graphlens.analysis.operator_kinds import CONSTANTS, base_name, is_view, operator_name
from graphlens.analysis.program_calls import ProgramCall
from graphlens.analysis.replaced_nodes import Replaced
from graphlens.model import Node

GENERATED = ("C++", "Triton")

UNKNOWN = "no kernel names it"

Listed = Mapping[str, Sequence[str]]


def nodes_by_call(
    calls: Sequence[ProgramCall], listed: Listed, known: Mapping[str, Node]
) -> list[tuple[str, ...]]:
    """Names of the nodes that each call computes, in the graph's order.

    Args:
        calls: Of the program.
        listed: Nodes by handle, as torch lists them.
        known: Nodes of the graph that the program was generated for, by name, in order.
    """
    place = {name: number for number, name in enumerate(known)}
    own = {id(call): _named_alike(call, listed, known) for call in calls}
    libraries = {name for names in own.values() for name in names}
    generated = {
        name for call in calls if call.language in GENERATED for name in listed.get(call.handle, ())
    }
    found = []
    for call in calls:
        names = [name for name in listed.get(call.handle, ()) if _computes(name, known)]
        if own[id(call)]:
            names = own[id(call)]
        elif call.language in GENERATED:
            names = [name for name in names if name not in libraries]
        else:
            rest = [n for n in names if n not in generated | libraries and not _view(n, known)]
            names = rest or names
        names = sorted(dict.fromkeys(names), key=lambda name: place.get(name, len(place)))
        found.append(tuple(names))
    return found


def _named_alike(call: ProgramCall, listed: Listed, known: Mapping[str, Node]) -> list[str]:
    """The nodes of a library call whose operator is the one that is called."""
    if call.language in GENERATED:
        return []
    name = base_name(call.name)
    return [
        each
        for each in listed.get(call.handle, ())
        if each in known and operator_name(known[each]) == name
    ]


def _computes(name: str, known: Mapping[str, Node]) -> bool:
    return name not in known or known[name].is_operator


def _view(name: str, known: Mapping[str, Node]) -> bool:
    return name in known and is_view(known[name])


def in_users_terms(
    names: Sequence[str], replaced: Replaced, nodes: Mapping[str, Node]
) -> tuple[str, ...]:
    """Nodes of the graph in the report, for those that Inductor's passes put in their place."""
    instead: dict[str, list[str]] = {}
    for old, news in replaced.items():
        for new, _ in news:
            if old in nodes and new not in nodes:
                instead.setdefault(new, []).append(old)
    return tuple(dict.fromkeys(each for name in names for each in instead.get(name, [name])))


def nodes_without_kernel(
    nodes: Sequence[Node], computed: set[str], lowered: Mapping[str, Node], replaced: Replaced
) -> Iterator[tuple[str, str]]:
    """Operators that no kernel computes, each with the reason.

    Args:
        nodes: Of the graph in the report.
        computed: Names of those that kernels compute.
        lowered: Nodes of the graph that code was generated for, by name; empty when not known.
        replaced: What Inductor's passes put in place of a node.
    """
    users = lowered.values() if lowered else nodes
    used = {name for node in users for name in node.inputs}
    for node in nodes:
        if node.is_operator and node.name not in computed:
            yield node.name, _reason(node, lowered, used, replaced)


def _reason(node: Node, lowered: Mapping[str, Node], used: set[str], replaced: Replaced) -> str:
    if is_view(node):
        return "view"
    if not node.tensors and node.value:
        return "a number, computed by the program's Python"
    if lowered and node.name not in lowered:
        return _eliminated(replaced.get(node.name, ()))
    if node.name not in used:
        return "eliminated: nothing uses its result"
    if operator_name(node) in CONSTANTS:
        return "a constant, written where it is used"
    return UNKNOWN


def _eliminated(instead: Sequence[tuple[str, str]]) -> str:
    if not instead:
        return "eliminated: a pass of Inductor took it out or put another in its place"
    name, by = instead[0]
    return f"eliminated by {f'the pass {by}' if by else 'a pass of Inductor'}: {name} is its value"
