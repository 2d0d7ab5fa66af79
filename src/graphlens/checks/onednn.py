"""The candidate ``onednn``: TorchScript with oneDNN Graph fusion, for inference on the CPU."""

from collections.abc import Sequence
from typing import Any

import torch

from graphlens._torch.onednn_graph import fused_by_onednn
from graphlens.checks.graph_calls import CompiledFn, GraphCall
from graphlens.errors import GraphLensError

# Results of another order of adding may differ; another function's differ by more.
_NEAR = 0.02


class CandidateUnavailable(GraphLensError):  # noqa: N818  it is a finding, not a failure
    """A candidate cannot run this graph; its message says why."""


class _Bound(torch.nn.Module):
    """A graph with its parameters and buffers as attributes, which freezing makes constants."""

    def __init__(self, gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> None:
        super().__init__()
        self.gm = gm
        self.fixed: dict[int, Any] = {}
        self.free: list[int] = []
        places = (node for node in gm.graph.nodes if node.op == "placeholder")
        for number, (node, value) in enumerate(zip(places, inputs, strict=True)):
            if not isinstance(value, torch.Tensor):
                self.fixed[number] = value
            elif _is_state(node, value):
                name = f"state_{number}"
                self.register_buffer(name, value.detach())
                self.fixed[number] = name
            else:
                self.free.append(number)
        self.train(False)

    def forward(self, *given: torch.Tensor) -> Any:
        """The graph's outputs from the inputs that are not bound."""
        values = {
            number: getattr(self, one) if isinstance(one, str) else one
            for number, one in self.fixed.items()
        }
        values.update(zip(self.free, given, strict=True))
        outputs = self.gm(*(values[number] for number in sorted(values)))
        return tuple(one for one in outputs if isinstance(one, torch.Tensor))


def compile_onednn(gm: torch.fx.GraphModule, call: GraphCall, mutates: bool) -> CompiledFn:
    """The graph with oneDNN Graph fusion; takes the graph's inputs and returns its tensors.

    Args:
        gm: The graph; stays as it is.
        call: Whose inputs it is made for: other sizes, numbers and parameters need another one.
        mutates: Whether the graph changes its inputs.

    Raises:
        CandidateUnavailable: The graph trains, is on another device, changes its inputs, or
            TorchScript cannot take it.
    """
    inputs = call.fresh()
    _check(inputs, call, mutates)
    bound = _Bound(gm, inputs)
    if not bound.free:
        raise CandidateUnavailable("the graph has no input besides parameters and buffers")
    given = [inputs[number] for number in bound.free]
    try:
        with call.around.restored():
            fused = fused_by_onednn(bound, given)
            expected, found = bound(*given), fused(*given)
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        raise CandidateUnavailable(
            f"TorchScript cannot take the graph ({type(error).__name__}: {first})"
        ) from error
    if not _near(expected, found if isinstance(found, tuple) else (found,)):
        raise CandidateUnavailable("the fused TorchScript gives other results than the graph")
    free = bound.free

    def run(*args: Any) -> Any:
        return fused(*[args[number] for number in free])

    return run


def _check(inputs: Sequence[Any], call: GraphCall, mutates: bool) -> None:
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    if call.around.grad and any(tensor.requires_grad for tensor in tensors):
        raise CandidateUnavailable("oneDNN Graph fusion is for inference; this graph trains")
    if other := {tensor.device.type for tensor in tensors} - {"cpu"}:
        raise CandidateUnavailable(
            f"oneDNN Graph fusion is for the CPU; this graph has tensors on {', '.join(other)}"
        )
    if mutates:
        raise CandidateUnavailable("the graph changes its inputs, which a frozen module cannot")
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        raise CandidateUnavailable("this torch is built without oneDNN")


def _is_state(node: torch.fx.Node, value: torch.Tensor) -> bool:
    """Whether an input is a parameter or a buffer; Dynamo's names tell buffers (2.11 to 2.14)."""
    return isinstance(value, torch.nn.Parameter) or "_buffers_" in str(node.target)


def _near(expected: Sequence[torch.Tensor], found: Sequence[torch.Tensor]) -> bool:
    if len(expected) != len(found):
        return False
    for one, other in zip(expected, found, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        wide = torch.complex128 if one.is_complex() else torch.float64
        largest = float(one.abs().max()) if one.numel() and one.dtype != torch.bool else 1.0
        limit = _NEAR * max(largest, 1e-30)
        if not torch.allclose(one.to(wide), other.to(wide), rtol=_NEAR, atol=limit, equal_nan=True):
            return False
    return True
