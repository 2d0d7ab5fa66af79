"""Beginnings of a graph: all up to one operator, with every value that is needed as output."""

import operator
from collections.abc import Sequence
from typing import Any

import torch

# Nodes that Dynamo puts into a graph to switch a mode (torch 2.11 to 2.14). Those of the rest of
# a graph are kept in its beginning where what they take is there, so that no mode stays on.
_SWITCHES = frozenset(
    {
        "_backend_from_string",
        "_exit_autocast",
        "_exit_inference_mode",
        "_saved_tensors_hooks_disable",
        "_saved_tensors_hooks_enable",
        "_sdpa_kernel",
        "_set_grad_enabled",
    }
)
_ENTERS_VMAP, _LEAVES_VMAP = "_vmap_increment_nesting", "_vmap_decrement_nesting"
_REMOVE = "_remove_batch_dim"
# Values between these are wrapped and mean nothing outside.
_WRAPPING = {"_grad_increment_nesting": 1, "_grad_decrement_nesting": -1}
_WRAPPING |= {"_jvp_increment_nesting": 1, "_jvp_decrement_nesting": -1}
# Memory as it is found is not the same each time; zeros are.
_FILLED: dict[Any, Any] = {
    torch.empty: torch.zeros,
    torch.empty_like: torch.zeros_like,
    "new_empty": "new_zeros",
}
_CALLS = ("call_function", "call_method", "call_module")
# Of operators in a graph of which one is worth taking alone.
_FEWEST = 2


def operators(gm: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """Nodes that a beginning can end with, in order.

    They give tensors, or write to one; nodes that only switch a mode or read a size are none, nor
    are those inside of ``torch.func.grad`` and the like, of which only the last is.
    """
    found: list[torch.fx.Node] = []
    depth = 0
    for node in gm.graph.nodes:
        before = depth
        depth += _WRAPPING.get(_name(node), 0)
        if before and not depth:
            # A beginning that ends here has the whole region in it.
            found.append(node)
        elif not depth and node.op in _CALLS and (_tensors(_value(node)) or _writes(node)):
            found.append(node)
    return found


def prefix(
    gm: torch.fx.GraphModule, last: torch.fx.Node, everything: bool = False
) -> torch.fx.GraphModule:
    """A graph that ends with an operator.

    Its inputs are those of the whole graph, in the same order. Its outputs are the values that the
    rest of the graph uses, and the operator's own. Modes that the rest would leave are left. What
    is allocated without values is filled with zeros.

    Args:
        gm: The whole graph; stays as it is.
        last: One of its `operators`.
        everything: Whether all values are outputs, in order.
    """
    return _Beginning(gm, last, everything).made()


def shown(last: torch.fx.Node) -> torch.fx.Node:
    """The node to name for a beginning's last one: of a region, its last value."""
    node = last
    while not _tensors(_value(node)) and not _writes(node) and node.op != "root":
        node = node.prev
    return last if node.op == "root" else node


class _Beginning:
    def __init__(self, gm: torch.fx.GraphModule, last: torch.fx.Node, everything: bool) -> None:
        self.gm = gm
        self.everything = everything
        self.graph = torch.fx.Graph()
        self.copied: dict[torch.fx.Node, torch.fx.Node] = {}
        # How many transforms of vmap each value is under, and those that are open.
        self.levels: dict[torch.fx.Node, int] = {}
        self.open: list[torch.fx.Node] = []
        self.last = last

    def made(self) -> torch.fx.GraphModule:
        nodes = list(self.gm.graph.nodes)
        end = nodes.index(self.last) + 1
        for node in nodes[:end]:
            self._copy(node)
            self._count(node)
        outputs = self._outputs(nodes[:end])
        for node in nodes[end:]:
            name = _name(node)
            if node.op == "placeholder":
                self._copy(node)
            elif name == _LEAVES_VMAP and self.open:
                outputs = self._removed(outputs, node)
                self._copy(node)
                self._count(node)
            elif name in _SWITCHES and all(one in self.copied for one in node.all_input_nodes):
                self._copy(node)
        self.graph.output(tuple(dict.fromkeys(one for one, _ in outputs)))
        made = torch.fx.GraphModule(self.gm, self.graph)
        made.meta = dict(self.gm.meta)
        return made

    def _copy(self, node: torch.fx.Node) -> None:
        made = self.graph.node_copy(node, lambda one: self.copied[one])
        takes_no_format = made.target is torch.empty and "memory_format" in made.kwargs
        if made.target in _FILLED and not takes_no_format:
            made.target = _FILLED[made.target]
        self.copied[node] = made

    def _count(self, node: torch.fx.Node) -> None:
        name = _name(node)
        if name == _ENTERS_VMAP:
            self.open.append(node)
        elif name == _LEAVES_VMAP and self.open:
            self.open.pop()
        self.levels[node] = len(self.open) - (name == _REMOVE)

    def _outputs(self, inside: Sequence[torch.fx.Node]) -> list[tuple[torch.fx.Node, int]]:
        """Values with how many transforms of vmap they are under."""
        found = []
        known = set(inside)
        for node in inside:
            needed = node is self.last or any(user not in known for user in node.users)
            if (needed or self.everything) and node.op != "placeholder":
                level = self.levels[node]
                found += [(one, level) for one in _values(self.graph, self.copied[node])]
        return found

    def _removed(
        self, outputs: list[tuple[torch.fx.Node, int]], leaves: torch.fx.Node
    ) -> list[tuple[torch.fx.Node, int]]:
        """The values without the innermost transform of vmap, as it is left."""
        remove = _removal(self.gm, leaves)
        level = len(self.open)
        size = self.open[-1].args[0]
        size = self.copied[size] if isinstance(size, torch.fx.Node) else size
        return [
            (self.graph.call_function(remove, (one, level, size, 0)), level - 1)
            if under == level
            else (one, under)
            for one, under in outputs
        ]


def _removal(gm: torch.fx.GraphModule, leaves: torch.fx.Node) -> Any:
    """The function that takes a dimension of vmap off, which is where the leaving one is."""
    for node in gm.graph.nodes:
        if _name(node) == _REMOVE:
            return node.target
    raise ValueError(f"{leaves.name} closes a vmap without results")


def _values(graph: torch.fx.Graph, node: torch.fx.Node) -> list[torch.fx.Node]:
    """A node's tensors as nodes: itself, or one for each tensor of a tuple."""
    value = _value(node)
    if isinstance(value, torch.Tensor):
        return [node]
    if isinstance(value, (tuple, list)):
        found: list[torch.fx.Node] = []
        for index, one in enumerate(value):
            item = graph.call_function(operator.getitem, (node, index))
            item.meta["example_value"] = one
            found += _values(graph, item)
        return found
    return []


def _value(node: torch.fx.Node) -> Any:
    return node.meta.get("example_value", node.meta.get("val"))


def _name(node: torch.fx.Node) -> str:
    return getattr(node.target, "__name__", "") if node.op == "call_function" else ""


def _tensors(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_tensors, value))
    return isinstance(value, torch.Tensor)


def _writes(node: torch.fx.Node) -> bool:
    """Whether a node gives nothing but takes tensors, as ``x[0] = 1`` does."""
    if node.op not in _CALLS or _value(node) is not None:
        return False
    return any(_tensors(_value(one)) for one in node.all_input_nodes)


def alone(
    gm: torch.fx.GraphModule, values: dict[str, Any]
) -> tuple[torch.fx.GraphModule, list[Any]] | None:
    """The last operator of a graph without the others.

    Args:
        gm: The graph; without modes that are switched in it.
        values: Of each node, by name.

    Returns:
        A graph with the operator's inputs as its own, and their values; None where there is none.
    """
    nodes = [one for one in gm.graph.nodes if one.op in _CALLS]
    switched = any(_name(one) in (*_SWITCHES, _ENTERS_VMAP, *_WRAPPING) for one in nodes)
    last = next((one for one in reversed(nodes) if one.target is not operator.getitem), None)
    if last is None or switched or len(nodes) < _FEWEST:
        return None
    made = torch.fx.Graph()
    copied: dict[torch.fx.Node, torch.fx.Node] = {}
    inputs = []
    for node in last.all_input_nodes:
        if node.op == "get_attr":
            copied[node] = made.node_copy(node)
    for node in last.all_input_nodes:
        if node.op != "get_attr":
            copied[node] = made.placeholder(node.name)
            copied[node].meta = dict(node.meta)
            inputs.append(values[node.name])
    copied[last] = made.node_copy(last, lambda one: copied[one])
    made.output(tuple(_values(made, copied[last])))
    return torch.fx.GraphModule(gm, made), inputs
