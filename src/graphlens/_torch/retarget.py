"""A lowered graph on the CPU as the same graph on a GPU: devices, and operators that differ.

The graph is traced on the CPU, since the autograd engine needs a real device; here its metadata and
its arguments are moved. Attention is an operator of its own on each kind of device: in its place
comes the one that ``scaled_dot_product_attention`` would choose on the target. Seen on torch 2.11,
2.13 and 2.14.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils import _pytree as pytree

from graphlens._torch.attention import for_target, is_cpu_attention, not_as_there
from graphlens._torch.attention_on_cpu import on_cpu
from graphlens._torch.pretend_gpu import DEVICE
from graphlens._torch.probes import probe
from graphlens._torch.seeded_random import with_seeds
from graphlens.model import Target


@dataclass
class Retargeted:
    """A graph for a GPU.

    Attributes:
        gm: A copy of the graph of its own.
        inputs: Fake ones, on the GPU.
        more: What the program must be given after the graph's own inputs, on the CPU: constants
            that the graph held, and random states of attention.
        remarks: What of it is not as a trace on a GPU would be.
    """

    gm: torch.fx.GraphModule
    inputs: list[Any]
    more: list[torch.Tensor] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def retargeted(lowered: torch.fx.GraphModule, inputs: Sequence[Any], target: Target) -> Retargeted:
    """The graph for a target.

    Args:
        lowered: A functional ATen graph with fake values on the CPU; left as it is.
        inputs: Its example inputs.
        target: The GPU.

    Raises:
        TypeError: There are no fake values to tell shapes from.
    """
    from torch._guards import detect_fake_mode

    mode = detect_fake_mode(list(inputs)) or detect_fake_mode(
        [node.meta.get("val") for node in lowered.graph.nodes]
    )
    if mode is None:
        raise TypeError("the graph has no fake tensors, from which shapes are known")
    move = _Move(mode, target)
    made = Retargeted(move.module(lowered), [move.value(one) for one in inputs])
    move.constants(made)
    move.attention(made)
    # Of each input again: some have the layout of the operator that makes it on the target.
    given = [node for node in made.gm.graph.nodes if node.op == "placeholder"]
    made.inputs = [node.meta.get("val", one) for node, one in zip(given, made.inputs, strict=True)]
    made.gm.recompile()
    return made


@dataclass
class _Move:
    mode: Any
    target: Target

    def module(self, gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """A copy on the GPU; bodies of higher-order operators too."""
        made = torch.fx.GraphModule(gm, copy.deepcopy(gm.graph))
        made.meta = dict(gm.meta)
        for name, inner in gm.named_children():
            if isinstance(inner, torch.fx.GraphModule):
                setattr(made, name, self.module(inner))
        for node in made.graph.nodes:
            node.args = pytree.tree_map(self.value, node.args)
            node.kwargs = pytree.tree_map(self.value, node.kwargs)
            if "val" in node.meta:
                node.meta["val"] = pytree.tree_map(self.value, node.meta["val"])
        made.recompile()
        return made

    def value(self, value: Any) -> Any:
        """A fake tensor or a device, moved; all else as it is."""
        if isinstance(value, torch.Tensor):
            with self.mode:
                return torch.empty_strided(
                    value.shape, value.stride(), dtype=value.dtype, device=DEVICE
                )
        if isinstance(value, torch.device):
            return DEVICE if value.type == "cpu" else value
        return value

    def constants(self, made: Retargeted) -> None:
        """Tensors that the graph holds become inputs; of one element they stay, as scalars."""
        for node in list(made.gm.graph.nodes):
            held = _held(made.gm, node)
            if held is None or held.numel() == 1:
                continue
            with unset_fake_temporarily():  # a trace may be under way
                made.more.append(held.detach())
            with made.gm.graph.inserting_before(_first_operator(made.gm.graph)):
                given = made.gm.graph.placeholder(f"{node.name}_held")
            given.meta = {"val": self.value(held)}
            made.inputs.append(given.meta["val"])
            node.replace_all_uses_with(given)
            made.gm.graph.erase_node(node)

    def attention(self, made: Retargeted) -> None:
        """The target's own operator in place of the CPU's."""
        for node in list(made.gm.graph.nodes):
            if is_cpu_attention(node):
                if remark := not_as_there(node):
                    made.remarks.append(remark)
                with unset_fake_temporarily():
                    more = for_target(node, self.mode, self.target)
                made.more += more
                made.inputs += [self.value(one) for one in more]
            elif "mkldnn" in str(node.target):
                made.remarks.append(
                    f"{node.target} is an operator of the CPU; a GPU would run another"
                )


def moved_back(gm: torch.fx.GraphModule, by_four: frozenset[str]) -> torch.fx.GraphModule:
    """A graph that was moved to a GPU, as one that runs on CPU tensors.

    Args:
        gm: The graph; left as it is.
        by_four: Random tensors that are drawn by four.
    """
    made = torch.fx.GraphModule(gm, copy.deepcopy(gm.graph))

    def value(one: Any) -> Any:
        return torch.device("cpu") if isinstance(one, torch.device) else one

    for node in made.graph.nodes:
        node.args = pytree.tree_map(value, node.args)
        node.kwargs = pytree.tree_map(value, node.kwargs)
        if node.op == "call_function":
            node.target = on_cpu(node.target)
    with_seeds(made, by_four)
    made.recompile()
    return made


def _first_operator(graph: torch.fx.Graph) -> torch.fx.Node:
    found: torch.fx.Node = next(node for node in graph.nodes if node.op != "placeholder")
    return found


def _held(gm: torch.fx.GraphModule, node: torch.fx.Node) -> torch.Tensor | None:
    if node.op != "get_attr":
        return None
    value: Any = gm
    for part in str(node.target).split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, torch.Tensor) else None


@probe("moving a graph to a GPU", seen_on="2.11, 2.13, 2.14")
def _probe_retarget() -> str:
    from torch._subclasses.fake_tensor import FakeTensorMode

    from graphlens.analysis.targets import TARGETS

    graph = torch.fx.Graph()
    given = graph.placeholder("x")
    with FakeTensorMode() as mode:
        given.meta["val"] = mode.from_tensor(torch.ones(2, 3))
    graph.output((given,))
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    made = retargeted(gm, [given.meta["val"]], TARGETS["h100"])
    if made.inputs[0].device != DEVICE:
        raise TypeError(f"a fake tensor is on {made.inputs[0].device}")
    return "fake tensors on a GPU"
