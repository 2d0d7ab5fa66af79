"""Graphs of a run with calls of theirs, kept so that each call can be made again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from graphlens._torch.eager import without_torch_function
from graphlens.capture.input_copies import copied_inputs
from graphlens.checks.surroundings import Surroundings
from graphlens.model import Graph, Note

CompiledFn = Callable[..., Any]


class CompileAgain(Protocol):
    """Compiles a graph with the backend and options of the run, some of them changed.

    The graph is left as it is. ``overrides`` are settings of Inductor by name, such as
    ``{"emulate_precision_casts": True}``; another backend takes none.
    """

    def __call__(
        self,
        gm: torch.fx.GraphModule,
        inputs: Sequence[Any],
        overrides: Mapping[str, Any] = ...,
    ) -> CompiledFn: ...


@dataclass
class GraphCall:
    """One call of a graph, with copies of its real inputs.

    Attributes:
        inputs: In the order of the placeholders: tensors, copied with their strides, aliasing and
            need of gradients; numbers as they are. Never handed to what may change them.
        around: Modes and random states of the call.
        tangents: Gradients that came to the outputs in the program's backward pass, None for one
            that got none; None as a whole where the program made no backward pass.
        held: Tensors that the graph has as attributes and the program changes, such as parameters
            in the graph of an optimizer's step, each with a copy of its values at the call.
        notes: On tensors that could not be copied.
    """

    inputs: Sequence[Any]
    around: Surroundings
    tangents: list[torch.Tensor | None] | None = None
    held: Sequence[tuple[torch.Tensor, torch.Tensor]] = ()
    notes: list[Note] = field(default_factory=list)

    @property
    def given(self) -> list[Any]:
        """The inputs, and what the graph holds, as they were at the call."""
        return [*self.inputs, *(copy for _, copy in self.held)]

    @contextmanager
    def as_held(self) -> Iterator[None]:
        """What the graph holds has the values of the call inside, and its own again after."""
        kept = [(tensor, tensor.detach().clone()) for tensor, _ in self.held]
        try:
            _copy_all(self.held)
            yield
        finally:
            _copy_all(kept)

    def fresh(self) -> list[Any]:
        """Copies of the inputs, to run with."""
        made, _ = copied_inputs(tuple(self.inputs), {}, self.notes, gradients=False)
        return list(made)


@dataclass
class WatchedGraph:
    """A Dynamo graph of a run.

    Attributes:
        graph: As data; ``graph.id`` names it in the report.
        gm: A copy of it of our own, which nothing changes. Parameters and buffers are inputs.
        compiled: What the backend gave; None where it raised.
        compile: Compiles this graph, or a part of it, again.
        calls: Those kept, at least the first.
        hits: How often the program ran it in all.
        hits_of_run: How often in the run that was compared.
        error: What the backend raised; None where it returned.
        custom_passes: Settings of Inductor that hold a pass of the user's own.
    """

    graph: Graph
    gm: torch.fx.GraphModule
    compiled: CompiledFn | None
    compile: CompileAgain
    calls: list[GraphCall] = field(default_factory=list)
    hits: int = 0
    hits_of_run: int = 0
    error: Exception | None = None
    custom_passes: tuple[str, ...] = ()


@dataclass
class Outcome:
    """What one run of a graph gave.

    Attributes:
        outputs: Flat; tensors detached.
        gradients: Of each input, in order; None for those that have none.
        inputs: The tensors given, as they are after the run; in order, numbers too. Where nothing
            was written, those of the call itself. Then what the graph holds, as ``GraphCall.held``.
        error: What it raised; the rest is then empty.
        needs_gradient: Which outputs a backward pass started from.
    """

    outputs: list[Any] = field(default_factory=list)
    gradients: list[torch.Tensor | None] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    error: Exception | None = None
    needs_gradient: tuple[int, ...] = ()


def run(fn: CompiledFn, call: GraphCall, backward: bool = True) -> Outcome:
    """Makes a call again, with fresh copies and under the same modes and random states.

    Args:
        fn: The graph's module, or what a backend made of it; takes the inputs one by one.
        call: To make.
        backward: Whether to run the backward pass where outputs need gradients, from the real
            tangents, or from random ones that are always the same where there are none.
    """
    return run_on(fn, call.fresh(), call, backward)


def run_on(fn: CompiledFn, inputs: list[Any], call: GraphCall, backward: bool = True) -> Outcome:
    """As `run`, on inputs that are given and may be changed."""
    before = list(inputs)
    for value in before:
        if isinstance(value, torch.Tensor) and value.requires_grad and not value.is_leaf:
            value.retain_grad()
    # A graph module's own call prints a traceback where it raises. What a subclass of tensor does
    # to operators is in the graph already.
    run_graph = fn.forward if isinstance(fn, torch.fx.GraphModule) else fn
    try:
        with call.as_held():
            with call.around.restored(), without_torch_function():
                outputs = _flat(run_graph(*inputs))
            started = _backward(outputs, call.tangents) if backward and call.around.grad else ()
            held = [tensor.detach().clone() for tensor, _ in call.held]
    except Exception as error:  # noqa: BLE001  what the user's operators raise is a result
        return Outcome(error=error)
    return Outcome(
        outputs=[_detached(value) for value in outputs],
        gradients=[value.grad if isinstance(value, torch.Tensor) else None for value in before],
        inputs=[*map(after_call, before, call.inputs), *held],
        needs_gradient=started,
    )


def after_call(value: Any, given: Any) -> Any:
    """An input after a run: what was given where it still is that, so that no copy is kept."""
    value = _detached(value)
    if not isinstance(value, torch.Tensor) or not isinstance(given, torch.Tensor):
        return value
    given = given.detach()
    try:
        same = value.shape == given.shape and value.stride() == given.stride()
        return given if same and torch.equal(value, given.to(value.dtype)) else value
    except (RuntimeError, NotImplementedError):  # nested, sparse, quantized
        return value


def tangents_for(
    outputs: Sequence[Any], tangents: Sequence[torch.Tensor | None] | None
) -> dict[int, torch.Tensor]:
    """What a backward pass starts with, by output.

    Args:
        outputs: Flat.
        tangents: The real ones; None for made-up ones: normal, from a generator with seed 0.
    """
    found: dict[int, torch.Tensor] = {}
    generator = torch.Generator().manual_seed(0)
    for number, output in enumerate(outputs):
        if not isinstance(output, torch.Tensor) or not output.requires_grad:
            continue
        if tangents is None:
            kind = torch.complex128 if output.is_complex() else torch.float64
            made = torch.randn(output.shape, generator=generator, dtype=kind)
            found[number] = made.to(output.dtype).to(output.device)
        elif (given := tangents[number]) is not None:
            found[number] = given.to(output.dtype)
    return found


def _backward(
    outputs: Sequence[Any], tangents: Sequence[torch.Tensor | None] | None
) -> tuple[int, ...]:
    started = tangents_for(outputs, tangents)
    if started:
        torch.autograd.backward([outputs[n] for n in started], list(started.values()))
    return tuple(started)


def held_tensors(gm: torch.fx.GraphModule) -> list[torch.Tensor]:
    """Tensors that a graph has as attributes; Dynamo makes inputs of nearly all."""
    found = [*gm.parameters(), *gm.buffers()]
    for node in gm.graph.nodes:
        if node.op == "get_attr":
            value: Any = gm
            for name in node.target.split("."):
                value = getattr(value, name, None)
            found += [value] if isinstance(value, torch.Tensor) else []
    return list({id(one): one for one in found}.values())


def _copy_all(values: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
    with torch.no_grad():
        for tensor, copy in values:
            tensor.copy_(copy)


def _flat(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value
