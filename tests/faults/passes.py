"""A custom pass of Inductor that makes one mistake, and the mistakes it can make."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files

MARK = "# here"

# Edits one node of a graph, and says whether it did.
Edit = Callable[[torch.fx.Node], bool]


def marked(node: torch.fx.Node) -> bool:
    """Whether a line that made a node has the mark."""
    return MARK in (node.meta.get("stack_trace") or "")


def in_module(name: str) -> Callable[[torch.fx.Node], bool]:
    """Whether a node belongs to a module, by the end of its path."""

    def check(node: torch.fx.Node) -> bool:
        stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
        return any(path.endswith(name) for path, _ in stack.values())

    return check


class Injected(CustomGraphPass):
    """Edits every node that is marked, of one direction.

    The nodes are found by the user's line, so that they are found in a part of the graph too.
    """

    def __init__(
        self,
        name: str,
        edit: Edit,
        where: Callable[[torch.fx.Node], bool] = marked,
        backward: bool = False,
    ) -> None:
        self.name = name
        self.edit = edit
        self.where = where
        self.backward = backward
        self.hits = 0

    def __call__(self, graph: torch.fx.Graph) -> None:
        tangents = any(
            node.name.startswith("tangents") for node in graph.find_nodes(op="placeholder")
        )
        for node in list(graph.nodes):
            # The gradient that a custom function computes itself has no tag.
            backward = node.meta.get("partitioner_tag", "is_backward") == "is_backward" and tangents
            if node.op == "call_function" and backward == self.backward and self.where(node):
                self.hits += self.edit(node)
        graph.lint()

    def uuid(self) -> Any:
        return f"fault {self.name}", get_hash_for_files((__file__,))


def constant(target: Any, old: float, new: float) -> Edit:
    """A number among the arguments is another."""

    def edit(node: torch.fx.Node) -> bool:
        places = [at for at, value in enumerate(node.args) if _is_number(value, old)]
        if node.target is not target or not places:
            return False
        node.update_arg(places[0], new)
        return True

    return edit


def _is_number(value: Any, wanted: float) -> bool:
    return isinstance(value, (int, float)) and abs(value - wanted) < 1e-9


def argument(target: Any, at: int, change: Callable[[Any], Any]) -> Edit:
    """One argument is another."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target is not target or len(node.args) <= at:
            return False
        node.update_arg(at, change(node.args[at]))
        return True

    return edit


def keyword(target: Any, **changed: Any) -> Edit:
    """Keyword arguments are others."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target is not target:
            return False
        node.kwargs = {**node.kwargs, **changed}
        return True

    return edit


def swapped(*targets: Any) -> Edit:
    """The first two arguments change places."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target not in targets:
            return False
        node.args = (node.args[1], node.args[0], *node.args[2:])
        return True

    return edit


def other(target: Any, new: Any, change: Callable[..., tuple[Any, ...]] | None = None) -> Edit:
    """Another operator in its place, with the same arguments or changed ones."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target is not target:
            return False
        node.target = new
        if change is not None:
            node.args, node.kwargs = change(*node.args), {}
        return True

    return edit


def dropped(target: Any, kept: int = 0) -> Edit:
    """The operator is left out; one of its arguments is its value."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target is not target or not isinstance(node.args[kept], torch.fx.Node):
            return False
        node.replace_all_uses_with(node.args[kept])
        node.graph.erase_node(node)
        return True

    return edit


def followed(target: Any, make: Callable[..., torch.fx.Node]) -> Edit:
    """More operators after it; ``make`` is given a way to add one, and the node."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target is not target:
            return False
        users = list(node.users)
        with node.graph.inserting_before(node.next):
            made = make(_adder(node), node)
        for user in users:
            user.replace_input_with(node, made)
        return True

    return edit


def preceded(target: Any, at: int, make: Callable[..., torch.fx.Node]) -> Edit:
    """More operators on one of its arguments."""

    def edit(node: torch.fx.Node) -> bool:
        if node.target is not target:
            return False
        source = node.args[at]
        with node.graph.inserting_before(node):
            node.update_arg(at, make(_adder(source), source))
        return True

    return edit


def nan_above(limit: float) -> Callable[..., torch.fx.Node]:
    """For `followed`: NaN where the value is above a limit."""
    aten = torch.ops.aten

    def make(add: Callable[..., torch.fx.Node], node: torch.fx.Node) -> torch.fx.Node:
        # 0 times the logarithm of 0 is NaN; of anything else it is 0.
        room = add(aten.relu.default, add(aten.add.Tensor, add(aten.neg.default, node), limit))
        return add(aten.add.Tensor, node, add(aten.mul.Tensor, add(aten.log.default, room), 0))

    return make


def scaled(by: float) -> Callable[..., torch.fx.Node]:
    """For `followed`: the value times a number."""
    return lambda add, node: add(torch.ops.aten.mul.Tensor, node, by)


def _adder(like: torch.fx.Node) -> Callable[..., torch.fx.Node]:
    def add(target: Any, *args: Any) -> torch.fx.Node:
        made = like.graph.call_function(target, args)
        made.meta = dict(like.meta)
        return made

    return add


def item(at: int, make: Callable[..., torch.fx.Node]) -> Edit:
    """More operators after one element of a tuple."""
    inner = followed(operator.getitem, make)
    return lambda node: node.args[1:] == (at,) and inner(node)


@dataclass(frozen=True)
class Fault:
    """A fault, and the program it is injected into.

    Attributes:
        name: Of the fault.
        function: The program, with the mark on the line of the operator.
        inputs: Makes the arguments.
        edit: What the pass does.
        stage: The option that takes the pass.
        part: ``forward`` or ``backward``.
        module: End of the path of the module it is in, where no line is marked.
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    edit: Edit
    stage: str = "post_grad_custom_pre_pass"
    part: str = "forward"
    module: str = ""

    def made_pass(self) -> Injected:
        """The pass that injects it."""
        where = in_module(self.module) if self.module else marked
        return Injected(self.name, self.edit, where, self.part == "backward")
