"""A script that shows a divergence by itself, with nothing but torch."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from graphlens.checks import repro_helpers
from graphlens.checks.graph_calls import GraphCall, WatchedGraph, run
from graphlens.checks.locate import Compare
from graphlens.checks.node_values import node_values
from graphlens.checks.prefixes import alone, operators, prefix, shown
from graphlens.checks.repro_code import UnwritableError
from graphlens.checks.repro_script import Repro, Script
from graphlens.model import Accuracy, Divergence, Unavailable


def write_repro(
    watched: WatchedGraph,
    accuracy: Accuracy,
    backend: Any,
    keywords: Mapping[str, Any],
    compare: Compare,
    data_name: str = "data.pt",
) -> Repro | Unavailable:
    """A script for a graph that diverges.

    It has the graph up to the operator where it begins, or that operator alone if it diverges by
    itself. Inputs are made anew from their shapes, strides and dtypes if it still diverges with
    them, and stored if not.

    Args:
        watched: The graph.
        accuracy: Of it.
        backend: A name or callable.
        keywords: ``mode`` and ``options`` for it.
        compare: Decides whether a part of the graph diverges.
        data_name: File of the data.
    """
    number = accuracy.tensors[0].call if accuracy.tensors else 0
    if number >= len(watched.calls):
        return Unavailable("the graph was never called, so there are no inputs")
    part, call = _part(watched, watched.calls[number], accuracy, compare)
    specs = _specs(call.inputs)
    if specs is not None:
        generator = torch.Generator().manual_seed(0)
        made = [repro_helpers.made_input(spec, generator) for spec in specs]
        again = dataclasses.replace(call, inputs=made)
        specs = specs if _diverges(watched, part, again, compare) else None
        call = call if specs is None else again
    try:
        return Script(part, call, specs, backend, keywords, data_name).repro(accuracy)
    except UnwritableError as error:
        return Unavailable(str(error))


def _part(
    watched: WatchedGraph, call: GraphCall, accuracy: Accuracy, compare: Compare
) -> tuple[torch.fx.GraphModule, GraphCall]:
    call = dataclasses.replace(call, tangents=None)
    here = accuracy.first_divergence
    if not isinstance(here, Divergence):
        return watched.gm, call
    nodes = operators(watched.gm)
    last = next((one for one in nodes if shown(one).name == here.node), None)
    if last is None:
        return watched.gm, call
    part = prefix(watched.gm, last)
    small = alone(part, node_values(part, call))
    if small is None:
        return part, call
    inputs = dataclasses.replace(call, inputs=small[1])
    return (small[0], inputs) if _diverges(watched, small[0], inputs, compare) else (part, call)


def _diverges(
    watched: WatchedGraph, part: torch.fx.GraphModule, call: GraphCall, compare: Compare
) -> bool:
    if run(part, call).error is not None:
        return False
    try:
        with call.around.restored():
            compiled = watched.compile(part, call.fresh())
        return any(one.verdict == "diverges" for one in compare(part, compiled, call))
    except Exception:  # noqa: BLE001  another failure is not the one to show
        return False


def _specs(inputs: Sequence[Any]) -> list[dict[str, Any]] | None:
    """What is needed to make inputs anew; None where they share memory or are no plain tensors."""
    found: list[dict[str, Any]] = []
    memory = set()
    for value in inputs:
        if not isinstance(value, torch.Tensor):
            found.append({"value": value})
            continue
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout != torch.strided:
            return None
        address = value.untyped_storage().data_ptr()
        if (address and address in memory) or 0 in value.stride():
            return None
        memory.add(address)
        found.append(_spec(value))
    return found


def _spec(value: torch.Tensor) -> dict[str, Any]:
    fractions = value.is_floating_point() or value.is_complex()
    pairs = zip(value.shape, value.stride(), strict=True)
    length = 1 + sum((size - 1) * step for size, step in pairs) if value.numel() else 0
    low: Any = None
    high: Any = None
    if value.numel() and not value.is_complex():
        small = value.detach().to(torch.float64 if fractions else torch.int64)
        low, high = small.min().item(), small.max().item()
    if fractions:
        low, high = (0 if low is not None and low >= 0 else None), None
    return {
        "shape": tuple(value.shape),
        "stride": value.stride(),
        "length": length,
        "dtype": value.dtype,
        "device": str(value.device),
        "range": (low, high) if fractions or low is not None else (0, 1),
        "requires_grad": value.requires_grad,
    }
