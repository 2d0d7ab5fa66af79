"""A backend that keeps each graph of a run, with calls of it that can be made again."""

import copy
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import msgspec
import torch

from graphlens._torch.cache_lookups import marked_run
from graphlens._torch.dynamo import current_compile_id, innermost
from graphlens._torch.inductor import custom_passes, inductor_config
from graphlens.analysis.step_parts import Function, Visit
from graphlens.capture.backend import OnCompiled, compile_graph, inner_compiler
from graphlens.capture.input_copies import copied_inputs
from graphlens.capture.options import LensOptions
from graphlens.capture.recorder import CapturedGraph
from graphlens.checks.graph_calls import CompiledFn, GraphCall, WatchedGraph, held_tensors
from graphlens.checks.surroundings import surroundings
from graphlens.model import Graph, Note

# Calls of one graph that differ in more than values, such as in which inputs share memory.
MOST_CALLS = 3


@dataclass
class Watcher:
    """Keeps what a run's graphs were and were given.

    Attributes:
        options: Ours; ``inner`` is the backend that compiles.
        keywords: ``mode`` and ``options`` for it.
        keep: Whether to keep graphs and calls; else graphs are only run.
        on_compiled: Told when a graph is compiled.
        unchanged: Ids of tensors that the program does not change, which need no copy.
        graphs: By compile id; of several attempts the last.
        visits: Runs of graphs, in order, while `timing` is set.
        timing: Whether runs are timed, and no calls kept.
        stacks: Whether the functions under way are noted with each timed run, which takes time.
    """

    options: LensOptions
    keywords: dict[str, Any]
    keep: bool = True
    on_compiled: OnCompiled | None = None
    unchanged: frozenset[int] = frozenset()
    graphs: dict[str, WatchedGraph] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    timing: bool = False
    stacks: bool = False

    @property
    def name(self) -> str:
        """Of the backend that compiles."""
        inner = self.options.inner
        return inner if isinstance(inner, str) else getattr(inner, "__name__", type(inner).__name__)

    def backend(self, gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> CompiledFn:
        """Compiles a graph of Dynamo's as the inner backend does."""
        name = current_compile_id()
        own = graph_copy(gm) if self.keep else gm
        graph = Graph(id=name, compile_id=name, stage="dynamo", nodes=())
        watched = WatchedGraph(graph, own, None, self.compile, custom_passes=self._custom_passes())

        def take(captured: CapturedGraph, options: LensOptions) -> None:
            watched.graph = msgspec.structs.replace(
                captured.graph, compile_seconds=captured.seconds
            )
            if self.on_compiled is not None:
                self.on_compiled(captured, options)

        self.graphs[name] = watched
        try:
            compiled = compile_graph(gm, inputs, self.options, dict(self.keywords), take)
        except Exception as error:
            watched.error = error
            raise
        watched.compiled = compiled
        return self._watching(watched, compiled)

    def compile(
        self, gm: torch.fx.GraphModule, inputs: Sequence[Any], overrides: Mapping[str, Any] = {}
    ) -> CompiledFn:
        """Compiles a graph again; see `CompileAgain`."""
        again = inner_compiler(self.options.inner, dict(self.keywords), overrides)
        return again(graph_copy(gm), list(inputs), lambda *_: None)

    def _custom_passes(self) -> tuple[str, ...]:
        if self.options.inner != "inductor":
            return ()
        mode, options = self.keywords.get("mode"), self.keywords.get("options")
        return custom_passes(inductor_config(mode, options))

    def _watching(self, watched: WatchedGraph, compiled: CompiledFn) -> CompiledFn:
        run = innermost(compiled)
        seen: set[Any] = set()

        def call(*args: Any) -> Any:
            watched.hits += 1
            if self.timing:
                return self._timed(watched, run, args)
            if not self.keep or len(watched.calls) >= MOST_CALLS:
                return run(*args)
            kind = signature(args)
            if kind in seen:
                return run(*args)
            seen.add(kind)
            watched.calls.append(made := self._kept(watched, args))
            outputs = run(*args)
            _keep_tangents(made, outputs)
            return outputs

        return call

    def _kept(self, watched: WatchedGraph, args: tuple[Any, ...]) -> GraphCall:
        notes: list[Note] = []
        copied, _ = copied_inputs(
            tuple(None if id(one) in self.unchanged else one for one in args),
            {},
            notes,
            gradients=False,
        )
        whole = [
            one if id(one) in self.unchanged else kept
            for one, kept in zip(args, copied, strict=True)
        ]
        held = [one for one in held_tensors(watched.gm) if id(one) not in self.unchanged]
        return GraphCall(
            whole,
            surroundings(),
            held=[(one, one.detach().clone()) for one in held],
            notes=notes,
        )

    def _timed(self, watched: WatchedGraph, run: CompiledFn, args: tuple[Any, ...]) -> Any:
        stack = _functions_under_way() if self.stacks else ()
        visit = Visit(watched.graph.compile_id, "forward", time.perf_counter(), stack=stack)
        with marked_run() if self.stacks else nullcontext():
            outputs = run(*args)
        visit.end = time.perf_counter()
        self.visits.append(visit)
        for node in _backward_nodes(outputs):
            self._time_backward(watched.graph.compile_id, node)
        return outputs

    def _time_backward(self, name: str, node: Any) -> None:
        began: list[float] = []

        def before(*_: Any) -> None:
            began.append(time.perf_counter())

        def after(*_: Any) -> None:
            end = time.perf_counter()
            self.visits.append(Visit(name, "backward", began.pop() if began else end, end))

        node.register_prehook(before)
        node.register_hook(after)


def graph_copy(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """A graph of its own with the same parameters, buffers and constants.

    Bodies of higher-order operators are copied too, as backends change graphs in place.
    """
    made = torch.fx.GraphModule(gm, copy.deepcopy(gm.graph))
    for name, inner in gm.named_children():
        if isinstance(inner, torch.fx.GraphModule):
            setattr(made, name, graph_copy(inner))
    made.meta = dict(gm.meta)
    return made


def signature(args: Sequence[Any]) -> tuple[Any, ...]:
    """What a compiled graph may depend on besides values: layouts, numbers, and shared memory."""
    memory: dict[Any, int] = {}
    parts: list[Any] = []
    for one in args:
        if not isinstance(one, torch.Tensor):
            parts.append((type(one).__name__, str(one)))
            continue
        try:
            storage = memory.setdefault(one.untyped_storage().data_ptr() or id(one), len(memory))
            parts.append((tuple(one.shape), one.stride(), one.storage_offset(), one.dtype, storage))
        except (RuntimeError, NotImplementedError):  # sparse, nested, quantized
            parts.append(
                (type(one).__name__, tuple(one.shape) if one.layout == torch.strided else one.dtype)
            )
    return tuple(parts)


def _keep_tangents(call: GraphCall, outputs: Any) -> None:
    """Takes down the gradients that come to the outputs, if the program runs a backward pass."""
    flat = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def keeper(number: int) -> Callable[[torch.Tensor | None], None]:
        def keep(gradient: torch.Tensor | None) -> None:
            if call.tangents is None:
                call.tangents = [None] * len(flat)
            if call.tangents[number] is None and gradient is not None:
                call.tangents[number] = gradient.detach()

        return keep

    for number, one in enumerate(flat):
        if isinstance(one, torch.Tensor) and one.requires_grad:
            one.register_hook(keeper(number))  # type: ignore[no-untyped-call]


def _functions_under_way() -> tuple[Function, ...]:
    """Code objects from the outermost to the one that runs the graph, by file and first line."""
    found: list[Function] = []
    frame = sys._getframe(3)
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_code.co_firstlineno))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(reversed(found))


def _backward_nodes(outputs: Any) -> list[Any]:
    """AOTAutograd's node of the graph's backward pass, once (torch 2.11, 2.13 and 2.14)."""
    flat = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    nodes = {
        id(one.grad_fn): one.grad_fn
        for one in flat
        if isinstance(one, torch.Tensor)
        and one.grad_fn is not None
        and one.grad_fn.name() == "CompiledFunctionBackward"
    }
    return list(nodes.values())
