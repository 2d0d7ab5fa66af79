"""TorchScript with oneDNN Graph fusion, which torch keeps for inference on the CPU.

Seen on torch 2.11, 2.13 and 2.14, where ``torch.jit`` is deprecated and still there.
``torch.jit.optimize_for_inference`` is left out: it turns convolutions into other operators before
the fusion sees them, and what comes out raises ``vector::_M_range_check`` at its first run on all
of these releases.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from graphlens._torch.probes import probe

CompiledFn = Callable[..., Any]
_PROFILED_RUNS = 3  # the executor looks at two runs before it fuses


def fused_by_onednn(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> CompiledFn:
    """The module traced, frozen and fused.

    Args:
        module: In inference mode; its parameters and buffers become constants.
        inputs: To trace and to warm up with. They are not to be changed by the module.

    Raises:
        Exception: Torch's own, where it cannot trace, freeze or run the module.
    """
    with _fusion(), _no_deprecations(), torch.no_grad():
        traced = torch.jit.trace(module, tuple(inputs), check_trace=False)  # type: ignore[no-untyped-call]
        frozen: CompiledFn = torch.jit.freeze(traced)
        for _ in range(_PROFILED_RUNS):
            frozen(*inputs)
    return frozen


@contextmanager
def _fusion() -> Iterator[None]:
    was = torch.jit.onednn_fusion_enabled()  # type: ignore[no-untyped-call]
    torch.jit.enable_onednn_fusion(True)
    try:
        yield
    finally:
        torch.jit.enable_onednn_fusion(was)


@contextmanager
def _no_deprecations() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that torch.jit is deprecated, and notes on constants
        yield


@probe("oneDNN Graph fusion of TorchScript", seen_on="2.11, 2.13, 2.14")
def _probe_onednn() -> str:
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return "this torch is built without oneDNN"
    before = torch.jit.onednn_fusion_enabled()  # type: ignore[no-untyped-call]
    with _fusion():
        if not torch.jit.onednn_fusion_enabled():  # type: ignore[no-untyped-call]
            raise TypeError("the fusion cannot be turned on")
    return f"found; it was {'on' if before else 'off'}"
