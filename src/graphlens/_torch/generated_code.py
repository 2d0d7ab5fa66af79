"""The program that Inductor generates for a lowered graph, without compiling or running it.

Inductor writes the program to a file and imports that; in place of the import comes a module that
does nothing. So no compiler is needed, and no device. Seen on torch 2.11, 2.13 and 2.14.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

from graphlens._torch import trace
from graphlens._torch.fusion import fusion_log
from graphlens._torch.probes import probe
from graphlens._torch.provenance import provenance, replaced_nodes
from graphlens.model import TraceRecord


@dataclass
class Generated:
    """What was generated.

    Attributes:
        records: Torch's records of it, which nobody else got.
        code: The program.
    """

    records: list[TraceRecord] = field(default_factory=list)
    code: str = ""


def generate_code(
    lowered: torch.fx.GraphModule,
    inputs: Sequence[Any],
    keywords: Mapping[str, Any],
    of: torch.fx.Graph | None = None,
) -> Generated:
    """Generates the program of a graph.

    Args:
        lowered: An ATen graph, which Inductor's passes change.
        inputs: Its fake inputs.
        keywords: What ``compile_fx`` gives to its inner compiler.
        of: The Dynamo graph that it was lowered from.

    Raises:
        RuntimeError: Inductor generated none.
        Exception: Whatever stops Inductor.
    """
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx_inner

    made = Generated()
    with (
        _not_imported(made),
        _own_strides(),
        trace.diverted(made.records),
        config.patch({"force_disable_caches": True}),
        provenance(of),
        fusion_log() as fusion,
    ):
        compile_fx_inner(lowered, inputs, **keywords)
        trace.tell(lambda: replaced_nodes(lowered))
        trace.tell(fusion.told)
    if not made.code:
        raise RuntimeError("Inductor generated no program for this graph")
    return made


@contextlib.contextmanager
def _not_imported(made: Generated) -> Iterator[None]:
    from torch._inductor.codecache import PyCodeCache

    def load(_key: str, path: str, *_: object, **__: object) -> Any:
        with open(path) as file:
            made.code = file.read()
        return SimpleNamespace(call=_never_run, __file__=path, __name__="generated")

    with mock.patch.object(PyCodeCache, "load_by_key_path", load):
        yield


@contextlib.contextmanager
def _own_strides() -> Iterator[None]:
    """Inductor tells AOTAutograd the strides of its outputs; the graph itself is what will run."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.output_strides is None:
        yield
        return
    before, context.output_strides = context.output_strides, []
    try:
        yield
    finally:
        context.output_strides = before


def _never_run(_: object) -> None:
    raise RuntimeError("a program that was generated only to be shown was run")


@probe("generated programs", seen_on="2.11, 2.13, 2.14")
def _probe_generated() -> str:
    from torch._inductor.codecache import PyCodeCache

    if not callable(PyCodeCache.load_by_key_path):
        raise TypeError("Inductor imports its programs in another way")
    return "PyCodeCache.load_by_key_path"
