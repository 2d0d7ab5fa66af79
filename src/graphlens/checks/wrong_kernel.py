"""The first kernel of an interpreted program whose results leave what its nodes compute."""

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from graphlens._torch.retarget import moved_back
from graphlens._torch.widened import Wide, Widening
from graphlens.analysis.random_draws import drawn_by_four
from graphlens.checks.closeness import allowed
from graphlens.checks.errors import comparable, distance
from graphlens.checks.graph_calls import GraphCall
from graphlens.checks.interpreted import KernelRun
from graphlens.checks.reference import widened_inputs
from graphlens.model import Divergence, Errors, Graph, Kernel, Unavailable

_FACTOR = 8.0
"""So many times eager's own error, at the largest element, is taken for rounding."""

_NONE = Unavailable("no kernel writes a value that is wrong and that a node of the graph has")


class _Value(NamedTuple):
    """What a node gives in eager, and in float64."""

    eager: torch.Tensor
    truth: torch.Tensor


def wrong_kernel(
    graph: Graph,
    on_gpu: torch.fx.GraphModule,
    runs: Sequence[KernelRun],
    inputs: Sequence[Any],
    call: GraphCall,
) -> Divergence | Unavailable:
    """Where a program for a target begins to be wrong.

    The kernels ran in order, so the first that writes a wrong value is the one, unless a value that
    it read was wrong before: that one a library call has written.

    Args:
        graph: As in the report, with the program's kernels.
        on_gpu: The graph on the target, as code was generated for it.
        runs: Calls of Triton kernels, as interpreted.
        inputs: Of the program.
        call: Of the graph.
    """
    if isinstance(graph.kernels, Unavailable):
        return graph.kernels
    beside = any(one.beside for one in runs)
    try:
        gm = moved_back(on_gpu, drawn_by_four(str(graph.output_code)))
        values = {} if beside else _values(gm, inputs, call)
    except Exception as error:  # noqa: BLE001  it only tells where
        return Unavailable(f"the values of the graph's nodes could not be had: {error}")
    written = [(at, buffer) for at, one in enumerate(graph.kernels) for buffer in one.outputs]
    known = {buffer.name: values[buffer.node] for _, buffer in written if buffer.node in values}
    last = {buffer.name: at for at, buffer in written}
    waiting = iter(runs)
    for at, kernel in enumerate(graph.kernels):
        done = next(waiting, None) if kernel.language == "Triton" else None
        if done is None:
            continue
        if done.beside:
            return _found(graph, kernel, Unavailable("it touches memory beside its tensors"))
        # A buffer that several kernels write, such as one of zeros first, counts after the last.
        for names, arguments in ((_read(kernel), done.before), (_written(kernel), done.after)):
            for name, found in zip(_arguments(kernel.call), arguments, strict=False):
                writer = last.get(name, at)
                if name not in names or name not in known or writer > at:
                    continue
                off = _off(found, known[name])
                if off is not None:
                    return _found(graph, graph.kernels[writer], off)
    return _NONE


def _read(kernel: Kernel) -> set[str]:
    """What it only reads: of what it writes over, the name is that of the new value."""
    return {buffer.name for buffer in kernel.inputs} - _written(kernel)


def _written(kernel: Kernel) -> set[str]:
    return {buffer.name for buffer in kernel.outputs}


def _values(gm: torch.fx.GraphModule, inputs: Sequence[Any], call: GraphCall) -> dict[str, _Value]:
    """Of each node that gives one tensor."""
    with call.around.restored():
        eager = _run(gm, list(inputs))
    wide = widened_inputs(list(inputs))
    with call.around.restored(), Widening():
        truth = _run(gm, wide)
    return {
        name: _Value(value, truth[name])
        for name, value in eager.items()
        if not comparable(value, truth[name].to(value.dtype))
    }


class _Kept(torch.fx.Interpreter):
    """Keeps values as they are when each node has run."""

    def __init__(self, gm: torch.fx.GraphModule) -> None:
        super().__init__(gm)
        self.kept: dict[str, torch.Tensor] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        value = super().run_node(n)
        if isinstance(value, torch.Tensor):
            own = value.wide if isinstance(value, Wide) else value
            self.kept[n.name] = own.detach().clone()
        return value


def _run(gm: torch.fx.GraphModule, inputs: list[Any]) -> dict[str, torch.Tensor]:
    interpreter = _Kept(gm)
    with torch.no_grad():
        interpreter.run(*inputs)
    return interpreter.kept


def _off(found: torch.Tensor | None, value: _Value) -> Errors | None:
    """The errors of a value that is beyond rounding; None of one that is not, or is not known."""
    if found is None:
        return None
    if found.shape != value.eager.shape:
        if found.numel() != value.eager.numel():
            return None
        found = found.reshape(value.eager.shape)
    if not (found.dtype.is_floating_point or found.dtype.is_complex):
        same = torch.equal(found.to(value.truth.dtype), value.truth)
        return None if same else distance(found, value.truth).errors
    ours, eagers = distance(found, value.truth), distance(value.eager, value.truth)
    relative, _ = allowed(found.dtype)
    rounding = _FACTOR * eagers.errors.max_abs + relative * ours.truth_max
    within = ours.errors.max_abs <= rounding and (ours.finite or not eagers.finite)
    return None if within else ours.errors


def _arguments(call: str) -> list[str]:
    """Names of what a call of a kernel is given, views by what they are of."""
    parsed = ast.parse(call.strip(), mode="eval").body
    given = parsed.args if isinstance(parsed, ast.Call) else []
    return [_named(one) for one in given]


def _named(value: ast.expr) -> str:
    while isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    return value.id if isinstance(value, ast.Name) else ""


def _found(graph: Graph, kernel: Kernel, off: Errors | Unavailable) -> Divergence:
    names = () if isinstance(kernel.nodes, Unavailable) else kernel.nodes
    nodes = [node for node in graph.nodes if node.name in set(names)]
    last = nodes[-1] if nodes else None
    return Divergence(
        node=last.name if last else "",
        operator=last.target if last else "",
        part="backward" if graph.stage == "backward" else "forward",
        source=last.source if last else None,
        called_from=last.called_from if last else None,
        modules=last.modules if last else (),
        kernels=(kernel.handle or kernel.name,),
        culprit="lowering",
        because=f"interpreted, {kernel.name} is the first kernel that is wrong",
        errors=off,
    )
