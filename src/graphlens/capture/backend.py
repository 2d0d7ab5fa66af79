"""The backend: reads each graph Dynamo hands over, and forwards it to the inner backend."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch

from graphlens._torch.aot import compile_aot_eager
from graphlens._torch.dynamo import (
    blame,
    break_reason,
    current_attempt,
    current_compile_id,
    lookup_backend,
)
from graphlens._torch.failing_node import failing_node
from graphlens._torch.inductor import compile_with_inductor, explain_failure, inductor_config
from graphlens._torch.provenance import Callers, callers
from graphlens.capture.counting import counted
from graphlens.capture.options import LensOptions
from graphlens.capture.reader import node_source, node_target, read_graph
from graphlens.capture.recorder import (
    CapturedGraph,
    Recorder,
    active_recorders,
    node_places,
    noted_failures,
)
from graphlens.model import Failure, Graph, Node, Subgraph, Unavailable

CompiledFn = Callable[..., Any]
OnLowered = Callable[[torch.fx.GraphModule, str], None]
CompileInner = Callable[[torch.fx.GraphModule, Sequence[Any], OnLowered], CompiledFn]


class OnCompiled(Protocol):
    """Called once a graph is compiled, with the graph as it is known then."""

    def __call__(self, captured: CapturedGraph, options: LensOptions) -> None: ...


def compile_graph(
    gm: torch.fx.GraphModule,
    inputs: Sequence[Any],
    options: LensOptions,
    inner_keywords: dict[str, Any],
    on_compiled: OnCompiled | None = None,
    compile_inner: CompileInner | None = None,
) -> CompiledFn:
    """Records a graph and compiles it with the inner backend.

    Args:
        gm: Dynamo's graph.
        inputs: Its example inputs.
        options: Ours.
        inner_keywords: ``mode`` and ``options`` for the inner backend, where given.
        on_compiled: Told when the graph is compiled.
        compile_inner: Compiles in place of the backend that the options name.

    Returns:
        The inner backend's function, or one that counts its calls.
    """
    compile_inner = compile_inner or inner_compiler(options.inner, inner_keywords)
    recorders = active_recorders()
    captured = _capture(gm, options, recorders)
    for recorder in recorders:
        recorder.add_graph(captured)
    known: Callers = {}
    with noted_failures(recorders, "reading where nodes come from"):
        known = callers(gm.graph)

    def on_lowered(lowered: torch.fx.GraphModule, stage: str) -> None:
        with noted_failures(recorders, f"reading the {stage} graph's modules"):
            captured.lowered[stage] = node_places(lowered, known)

    start = time.perf_counter()
    try:
        compiled = compile_inner(gm, inputs, on_lowered)
    except Exception as error:
        captured.seconds = Unavailable(f"the inner backend raised {type(error).__name__}")
        with noted_failures(recorders, "looking for the operator that failed"):
            captured.failure = _failure(error)
        _add_remedy(error)
        blamed = blame(_name(options.inner), error)
        if blamed is error:
            raise
        raise blamed from None
    captured.seconds = time.perf_counter() - start
    compiled, captured.hits = counted(compiled)
    if on_compiled is not None:
        with noted_failures(recorders, "printing a graph"):
            on_compiled(captured, options)
    return compiled


def _failure(error: Exception) -> Failure:
    first = str(error).strip().partition("\n")[0]
    text = f"{type(error).__name__}: {first}"
    node = failing_node(error)
    if node is None:
        return Failure(error=text)
    place, own = node_source(node)
    return Failure(error=text, operator=node_target(node), source=own or place)


def _add_remedy(error: Exception) -> None:
    remedy = explain_failure(error)
    if remedy and hasattr(error, "add_note"):  # Python 3.11
        error.add_note(f"graphlens: {remedy}")


def _capture(
    gm: torch.fx.GraphModule, options: LensOptions, recorders: Sequence[Recorder]
) -> CapturedGraph:
    """The graph as data; without nodes if reading fails, so that the trace's text stands in."""
    nodes: tuple[Node, ...] = ()
    subgraphs: tuple[Subgraph, ...] = ()
    with noted_failures(recorders, "reading a graph"):
        nodes, subgraphs = read_graph(gm)
    graph = Graph(
        id=f"{current_compile_id()}.dynamo",
        compile_id=current_compile_id(),
        stage="dynamo",
        nodes=nodes,
        subgraphs=subgraphs,
        inner_backend=_name(options.inner),
        ended_by=break_reason(gm),
    )
    return CapturedGraph(graph, current_attempt())


def inner_compiler(
    inner: str | CompiledFn, keywords: dict[str, Any], overrides: Mapping[str, Any] | None = None
) -> CompileInner:
    """How the inner backend compiles; those we know better than by name show lowered graphs.

    Args:
        inner: A backend's name or callable.
        keywords: ``mode`` and ``options`` for it, where given.
        overrides: Settings of Inductor that come before these; no other backend takes any.
    """
    if inner == "inductor":
        config = inductor_config(keywords.get("mode"), keywords.get("options"))
        config.update(overrides or {})
        return lambda gm, inputs, on_lowered: compile_with_inductor(gm, inputs, config, on_lowered)
    if inner == "aot_eager" and not keywords:
        return compile_aot_eager
    backend = lookup_backend(inner) if isinstance(inner, str) else inner
    return lambda gm, inputs, _: backend(gm, inputs, **keywords)


def _name(inner: str | CompiledFn) -> str:
    return inner if isinstance(inner, str) else getattr(inner, "__name__", type(inner).__name__)
