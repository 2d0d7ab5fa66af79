"""Attention on a GPU in place of attention on the CPU, in a lowered graph.

``scaled_dot_product_attention`` is traced as the operator of its device. Which one a GPU gets is
torch's choice in ``sdp_utils.cpp``: flash attention for float16 and bfloat16 without a mask, from
compute capability 8.0 on and for heads of up to 256; else the memory-efficient one. Seen on torch
2.11, 2.13 and 2.14.
"""

from typing import Any

import torch
from torch.utils import _pytree as pytree

from graphlens._torch.pretend_gpu import DEVICE
from graphlens._torch.probes import probe
from graphlens.model import Target

_CPU = "aten._scaled_dot_product_flash_attention_for_cpu"
FORWARD = f"{_CPU}.default"
BACKWARD = f"{_CPU}_backward.default"
_LONGEST_HEAD = 256
_EFFICIENT_ROWS = 32  # the memory-efficient operator rounds rows of its logsumexp up to these


def is_cpu_attention(node: torch.fx.Node) -> bool:
    """Whether a node is attention on the CPU, forward or backward."""
    return node.op == "call_function" and str(node.target) in (FORWARD, BACKWARD)


def for_target(node: torch.fx.Node, mode: Any, target: Target) -> list[torch.Tensor]:
    """Puts the target's operator in a node's place.

    Args:
        node: Of a graph whose values were moved to the GPU.
        mode: Of its fake tensors.
        target: The GPU.

    Returns:
        What the graph must be given after its own inputs: the backward operator takes the random
        state of the forward one, which is never used without dropout.
    """
    forward = str(node.target) == FORWARD
    query, mask = node.args[0 if forward else 1], node.kwargs.get("attn_mask")
    flash = mask is None and _is_for_flash(query.meta["val"], target)  # type: ignore[union-attr]
    seeds: list[torch.fx.Node] = []
    if forward:
        node.target, node.args, node.kwargs = _FORWARD[flash](node)
    else:
        seeds = _random_state(node, mode, flash)
        _set_logsumexp(node, mode, flash)
        node.target, node.args, node.kwargs = _BACKWARD[flash](node, *seeds)
    _set_values(node, mode)
    states = [one.meta["val"] for one in seeds]
    return [torch.zeros(tuple(one.shape), dtype=one.dtype) for one in states]


def not_as_there(node: torch.fx.Node) -> str:
    """What of an attention on the target is not shown, as a sentence; empty where all is."""
    forward = str(node.target) == FORWARD
    query, key = (one.meta["val"] for one in node.args[0 if forward else 1 :][:2])  # type: ignore[union-attr]
    if query.dtype == torch.float64:
        return "attention in float64 is shown as one operator; a GPU takes it apart"
    if query.shape[-1] % (8 if query.dtype.itemsize == 2 else 4):
        return (
            f"attention with heads of {query.shape[-1]} is shown as it is; a GPU pads the heads, "
            "or takes it apart"
        )
    if query.shape[1] != key.shape[1]:
        return "attention with grouped queries is shown as one operator; a GPU may take it apart"
    return ""


def _is_for_flash(query: torch.Tensor, target: Target) -> bool:
    return (
        query.dtype in (torch.float16, torch.bfloat16)
        and target.capability >= (8, 0)
        and query.shape[-1] <= _LONGEST_HEAD
    )


_Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


def _argument(node: torch.fx.Node, at: int, default: Any) -> Any:
    return node.args[at] if len(node.args) > at else default


def _efficient(node: torch.fx.Node) -> _Call:
    query, key, value = node.args[:3]
    mask, scale = node.kwargs.get("attn_mask"), node.kwargs.get("scale")
    saves = any(user.args[1] == 1 for user in node.users if user.op == "call_function")
    arguments = (query, key, value, mask, saves, _argument(node, 3, 0.0), _argument(node, 4, False))
    operator = torch.ops.aten._scaled_dot_product_efficient_attention.default
    return operator, arguments, {"scale": scale}


def _flash(node: torch.fx.Node) -> _Call:
    query, key, value = node.args[:3]
    dropout, causal = _argument(node, 3, 0.0), _argument(node, 4, False)
    operator = torch.ops.aten._scaled_dot_product_flash_attention.default
    return operator, (query, key, value, dropout, causal), {"scale": node.kwargs.get("scale")}


def _efficient_backward(node: torch.fx.Node, seed: Any, offset: Any) -> _Call:
    gradient, query, key, value, out, logsumexp, dropout, causal = node.args[:8]
    mask, scale = node.kwargs.get("attn_mask"), node.kwargs.get("scale")
    wanted = [True, True, True, False]
    arguments = (
        gradient, query, key, value, mask, out, logsumexp, seed, offset, dropout, wanted, causal,
    )  # fmt: skip
    operator = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default
    return operator, arguments, {"scale": scale}


def _flash_backward(node: torch.fx.Node, seed: Any, offset: Any) -> _Call:
    gradient, query, key, value, out, logsumexp, dropout, causal = node.args[:8]
    rows = [one.meta["val"].shape[-2] for one in (query, key)]  # type: ignore[union-attr]
    arguments = (
        gradient, query, key, value, out, logsumexp, None, None, *rows, dropout, causal, seed,
        offset,
    )  # fmt: skip
    operator = torch.ops.aten._scaled_dot_product_flash_attention_backward.default
    return operator, arguments, {"scale": node.kwargs.get("scale")}


_FORWARD = {True: _flash, False: _efficient}
_BACKWARD = {True: _flash_backward, False: _efficient_backward}


def _random_state(node: torch.fx.Node, mode: Any, flash: bool) -> list[torch.fx.Node]:
    """New inputs of the graph, before its first operator."""
    first = next(one for one in node.graph.nodes if one.op != "placeholder")
    dtype = torch.uint64 if flash else torch.int64
    number = sum(str(one.target).startswith("philox_seed") for one in node.graph.nodes)
    made = []
    for name in ("philox_seed", "philox_offset"):
        shape = (2,) if flash and name == "philox_seed" else ()
        with node.graph.inserting_before(first):
            one = node.graph.placeholder(f"{name}_{number}")
        with mode:
            one.meta["val"] = torch.empty(shape, dtype=dtype, device=DEVICE)
        made.append(one)
    return made


def _set_logsumexp(node: torch.fx.Node, mode: Any, flash: bool) -> None:
    """The saved logsumexp has the layout of the operator that made it."""
    saved: Any = node.args[5]
    if saved.op != "placeholder":
        return
    *batch, rows = saved.meta["val"].shape
    with mode:
        shape = (*batch, rows if flash else padded_rows(rows))
        saved.meta["val"] = torch.empty(shape, dtype=torch.float32, device=DEVICE)


def _set_values(node: torch.fx.Node, mode: Any) -> None:
    """Shapes of the new operator's results, and of what takes them apart."""

    def value(one: Any) -> Any:
        return one.meta["val"] if isinstance(one, torch.fx.Node) else one

    with mode:
        made = node.target(  # type: ignore[operator]
            *pytree.tree_map(value, node.args), **pytree.tree_map(value, node.kwargs)
        )
    node.meta["val"] = made
    node.meta["original_aten"] = node.target  # Inductor names kernels after it
    for user in node.users:
        if user.op == "call_function" and user.target.__name__ == "getitem":  # type: ignore[union-attr]
            user.meta["val"] = made[user.args[1]]


def padded_rows(rows: int) -> int:
    """Rows of the memory-efficient operator's logsumexp for so many queries."""
    return -(-rows // _EFFICIENT_ROWS) * _EFFICIENT_ROWS


@probe("attention on each kind of device", seen_on="2.11, 2.13, 2.14")
def _probe_attention() -> str:
    found = []
    for name in (FORWARD, BACKWARD):
        packet = getattr(torch.ops.aten, name.split(".")[1])
        found.append(str(packet.default))
    for kind in ("efficient", "flash"):
        for part in ("", "_backward"):
            packet = getattr(torch.ops.aten, f"_scaled_dot_product_{kind}_attention{part}")
            found.append(str(packet.default))
    return f"{len(found)} operators"
