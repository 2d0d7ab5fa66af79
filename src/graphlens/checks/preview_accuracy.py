"""Whether a program for a GPU computes what eager does: interpreted, judged as in `compare`."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import torch

from graphlens._torch.retarget import Retargeted
from graphlens._torch.seeded_random import with_seeds
from graphlens.analysis.random_draws import drawn_by_four
from graphlens.checks.graph_calls import (
    CompiledFn,
    GraphCall,
    Outcome,
    WatchedGraph,
    after_call,
    run,
)
from graphlens.checks.interpreted import Interpreted, KernelRun, ProgramRun
from graphlens.checks.judge import graph_verdict, judge
from graphlens.checks.preview_graphs import PreviewedGraph
from graphlens.checks.reference import reference
from graphlens.checks.result_names import Names
from graphlens.checks.watcher import graph_copy
from graphlens.checks.wrong_kernel import wrong_kernel
from graphlens.model import Accuracy, Graph, TensorAccuracy, Unavailable

_SAME_SEEDS = (
    "random numbers are drawn with the same seeds and offsets: eager's by Philox, as Triton draws"
)


def program_run(kept: PreviewedGraph, graph_id: str) -> ProgramRun | Unavailable:
    """What the interpreter is given for a graph, or why the graph is not comparable."""
    if isinstance(kept.gpu, Unavailable):
        return kept.gpu
    if kept.call is None:
        return Unavailable("the program did not run it")
    inputs = laid_out(kept.call, kept.on_gpu)
    if isinstance(inputs, Unavailable):
        return inputs
    return ProgramRun(graph_id, kept.gpu.code, inputs, kept.call.around.random_state)


def laid_out(call: GraphCall, on_gpu: Retargeted | Unavailable) -> list[Any] | Unavailable:
    """The inputs of a call in the layouts that the program for the target takes them in."""
    if isinstance(on_gpu, Unavailable):
        return on_gpu
    given = [*call.fresh(), *on_gpu.more]
    if len(given) != len(on_gpu.inputs):
        return Unavailable(
            "the graph was called with another number of inputs than it was made for"
        )
    return [_as(one, wanted) for one, wanted in zip(given, on_gpu.inputs, strict=True)]


def _as(value: Any, wanted: Any) -> Any:
    """A value with the shape and strides of another; what is longer there is zero."""
    if not isinstance(value, torch.Tensor) or not isinstance(wanted, torch.Tensor):
        return value
    if any(not isinstance(one, int) for one in (*wanted.shape, *wanted.stride())):
        return value  # sizes that vary: those of the call
    if value.shape == wanted.shape and value.stride() == wanted.stride():
        return value
    made = torch.zeros(0, dtype=value.dtype).new_empty_strided(wanted.shape, wanted.stride())
    made.zero_()[tuple(map(slice, value.shape))] = value.detach()
    return made


def preview_accuracy(
    graph: Graph, kept: PreviewedGraph, result: Interpreted | Unavailable
) -> Accuracy:
    """The verdict on the program for the target.

    Args:
        graph: As in the report, with its kernels.
        kept: The graph, its programs and its call.
        result: What the interpreted program gave.
    """
    if isinstance(result, Unavailable):
        return Accuracy(verdict="not_comparable", reason=result.reason, calls=0)
    beside = next((one for one in result.runs if one.beside), None)
    if result.error and beside is None:
        return Accuracy(verdict="not_comparable", reason=_stopped(result), calls=0)
    assert kept.call is not None  # noqa: S101  it was interpreted
    assert isinstance(kept.on_gpu, Retargeted)  # noqa: S101
    gm = graph_copy(kept.gm)
    drawn = with_seeds(gm, drawn_by_four(str(graph.output_code)))
    made = _judged(graph, gm, kept.call, result)
    if beside is not None:
        made = msgspec.structs.replace(made, verdict="diverges", reason=_beside(beside))
    if drawn:
        made = msgspec.structs.replace(made, remarks=(*made.remarks, _SAME_SEEDS))
    if made.verdict != "diverges":
        return made
    inputs = laid_out(kept.call, kept.on_gpu)
    where: Any = (
        inputs
        if isinstance(inputs, Unavailable)
        else wrong_kernel(graph, kept.on_gpu.gm, result.runs, inputs, kept.call)
    )
    return msgspec.structs.replace(made, first_divergence=where, origin="inductor")


def _judged(
    graph: Graph, gm: torch.fx.GraphModule, call: GraphCall, result: Interpreted
) -> Accuracy:
    watched = WatchedGraph(graph, gm, None, _not_again)
    truth, kind = reference(gm, call, backward=False)
    eager = run(gm, call, backward=False)
    given = Outcome(
        outputs=[_cut(one, like) for one, like in zip(result.outputs, eager.outputs, strict=False)],
        gradients=[None] * len(call.inputs),
        # A backward program may write over what was saved for it, which nobody reads again.
        inputs=eager.inputs
        if graph.stage == "backward"
        else [
            after_call(_cut(one, like), like)
            for one, like in zip(result.inputs, call.inputs, strict=False)
        ],
    )
    usable = truth if truth.error is None else None
    tensors: Sequence[TensorAccuracy] = judge(
        watched, call, eager, given, usable, _names(graph, gm)
    )
    verdict, reason = graph_verdict(tensors)
    return Accuracy(
        verdict=verdict,
        reason=reason,
        reference=kind,
        tensors=tuple(tensors),
    )


def _not_again(
    gm: torch.fx.GraphModule, inputs: Sequence[Any], overrides: Mapping[str, Any] = {}
) -> CompiledFn:
    raise NotImplementedError("a previewed graph is not compiled again")


def _cut(value: Any, like: Any) -> Any:
    """Without what the target's attention pads its results with."""
    if not isinstance(value, torch.Tensor) or not isinstance(like, torch.Tensor):
        return value
    if value.dim() != like.dim() or value.shape == like.shape:
        return value
    return value[tuple(map(slice, like.shape))]


def _names(graph: Graph, gm: torch.fx.GraphModule) -> Names:
    """Results by the names of their nodes, as these stand in the report."""
    output: Any = next(iter(gm.graph.find_nodes(op="output"))).args[0]
    values = output if isinstance(output, (list, tuple)) else [output]
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    return Names(
        outputs=tuple(f"output {n} (`{value}`)" for n, value in enumerate(values)),
        inputs=tuple(f"{one.role or 'input'} `{one.origin or one.name}`" for one in inputs),
        roles=tuple(one.role or "input" for one in inputs),
    )


def _stopped(result: Interpreted) -> str:
    last = result.runs[-1] if result.runs else None
    if last is None or last.after:
        return f"the program stopped in the interpreter: {result.error}"
    return f"Triton's interpreter cannot run {last.name}: {result.error}"


def _beside(run: KernelRun) -> str:
    done = " and ".join(
        f"{'reads' if what == 'read' else 'writes'} {count:,} elements"
        for what, count in sorted(run.beside.items())
    )
    return f"{run.name} {done} beside its tensors: a mask or an index is wrong"
