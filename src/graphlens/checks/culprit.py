"""What of the compiler is at fault: parts of it are turned off, one group at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graphlens._torch.dynamo import lookup_backend
from graphlens._torch.inductor import CUSTOM_PASSES, known_settings
from graphlens.checks.graph_calls import CompiledFn, GraphCall, WatchedGraph
from graphlens.checks.watcher import graph_copy
from graphlens.model import SwitchTried, TensorAccuracy
from graphlens.model.accuracy import VERDICTS

Compare = Callable[[torch.fx.GraphModule, CompiledFn, GraphCall], Sequence[TensorAccuracy]]

# What runs before Inductor generates code; each contains those before it.
_STAGES = (
    ("capture", "eager", "the captured graph gives this without any compiler"),
    ("autograd", "aot_eager", "AOTAutograd alone gives this too"),
    (
        "decomposition",
        "aot_eager_decomp_partition",
        "AOTAutograd with Inductor's decompositions, run in eager, gives this too",
    ),
)
# By what they turn off; a setting that this torch does not have is left out.
_GROUPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    (
        "pass",
        {
            "pattern_matcher": False,
            "joint_graph_constant_folding": False,
            **dict.fromkeys(CUSTOM_PASSES),
            "pre_grad_fusion_options": {},
            "post_grad_fusion_options": {},
        },
    ),
    ("vectorization", {"cpp.simdlen": 1}),
    (
        "fusion",
        {
            "max_fusion_size": 1,
            "epilogue_fusion": False,
            "prologue_fusion": False,
            "realize_opcount_threshold": 0,
            "realize_reads_threshold": 0,
        },
    ),
    ("precision", {"emulate_precision_casts": True}),
)


@dataclass(frozen=True)
class Culprit:
    """What was found.

    Attributes:
        kind: As ``Divergence.culprit``.
        because: What showed it.
        tried: Settings that were tried.
    """

    kind: str
    because: str
    tried: tuple[SwitchTried, ...] = ()


def find_culprit(
    watched: WatchedGraph, part: torch.fx.GraphModule, call: GraphCall, compare: Compare
) -> Culprit:
    """Which part of the compiler makes a graph diverge.

    Args:
        watched: The graph of which it is a part; knows how to compile.
        part: That diverges.
        call: Its inputs.
        compare: Decides whether it still does.
    """
    for kind, backend, because in _STAGES:
        if _stage_diverges(backend, part, call, compare):
            return Culprit(kind, because)
    if watched.graph.inner_backend != "inductor":
        return Culprit("", f"the backend is {watched.graph.inner_backend}, which is not known")
    tried: list[SwitchTried] = []
    own = [("custom_pass", {name: None}) for name in watched.custom_passes]
    for kind, overrides in [*own, *((kind, known_settings(wanted)) for kind, wanted in _GROUPS)]:
        verdict = _verdict_with(overrides, watched, part, call, compare)
        helps = verdict in ("agrees", "rounding")
        tried.append(SwitchTried(code=switch_code(overrides), verdict=verdict, helps=helps))
        if helps:
            off = (
                f"the custom pass {next(iter(overrides))}" if kind == "custom_pass" else _TOLD[kind]
            )
            return Culprit(kind, f"it is right with {off} off", tuple(tried))
    because = (
        "it is wrong with passes, vectorization and fusion off, and right in what Inductor is given"
    )
    return Culprit("lowering", because, tuple(tried))


_TOLD = {
    "pass": "Inductor's passes",
    "vectorization": "vectorization",
    "fusion": "fusion",
    "precision": "the keeping of unrounded intermediates (emulate_precision_casts on)",
}


def switch_code(overrides: Mapping[str, Any]) -> str:
    """Settings of Inductor as options of ``torch.compile``."""
    inside = ", ".join(f'"{name}": {value!r}' for name, value in overrides.items())
    return f"options={{{inside}}}"


def _stage_diverges(
    backend: str, part: torch.fx.GraphModule, call: GraphCall, compare: Compare
) -> bool:
    try:
        with call.around.restored():
            compiled = lookup_backend(backend)(graph_copy(part), call.fresh())
    except Exception:  # noqa: BLE001  it says nothing of Inductor
        return False
    return any(one.verdict == "diverges" for one in compare(part, compiled, call))


def _verdict_with(
    overrides: Mapping[str, Any],
    watched: WatchedGraph,
    part: torch.fx.GraphModule,
    call: GraphCall,
    compare: Compare,
) -> str:
    try:
        with call.around.restored():
            compiled = watched.compile(part, call.fresh(), overrides)
    except Exception:  # noqa: BLE001  as wrong as a wrong value
        return "diverges"
    verdicts = {one.verdict for one in compare(part, compiled, call)}
    return max(verdicts, key=VERDICTS.index, default="agrees")
