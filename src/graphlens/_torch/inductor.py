"""Inductor, entered the way ``torch.compile(backend="inductor")`` enters it.

Seen on torch 2.11, 2.13 and 2.14.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from graphlens._torch import trace
from graphlens._torch.cuda_graphs import cuda_graph_facts, wants_cuda_graphs
from graphlens._torch.fusion import fusion_log
from graphlens._torch.probes import probe
from graphlens._torch.provenance import provenance, replaced_nodes
from graphlens.errors import MissingCompilerError

MISSING_COMPILER = (
    "Inductor found no C++ compiler, which it needs for code on the CPU. Install one "
    "(`apt-get install g++`) or name it in the variable CXX; until then "
    "backend='graphlens_aot_eager' shows the graphs without compiling them."
)

CompiledFn = Callable[..., Any]
OnLowered = Callable[[torch.fx.GraphModule, str], None]


def inductor_config(mode: str | None, options: dict[str, Any] | None) -> dict[str, Any]:
    """Inductor's settings for a mode and options, checked by torch itself.

    Raises:
        RuntimeError: Torch's own, for an unknown mode, option or type.
    """
    wrapper = torch._TorchCompileInductorWrapper(mode, options, None)
    return dict(wrapper.config)


def compile_with_inductor(
    gm: torch.fx.GraphModule,
    inputs: Sequence[Any],
    config: dict[str, Any],
    on_lowered: OnLowered,
) -> CompiledFn:
    """Compiles a Dynamo graph with Inductor.

    Args:
        gm: The graph; Inductor takes it over and may change it.
        inputs: Its example inputs.
        config: From `inductor_config`.
        on_lowered: Called with each ATen graph that Inductor is given and its stage. Not called
            where AOTAutograd's cache answers, and for a backward graph at its first use.
    """
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    def inner_compile(lowered: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        on_lowered(lowered, stage_of(kwargs))
        wanted = wants_cuda_graphs(kwargs)
        with provenance(of), fusion_log() as fusion:
            made = compile_fx_inner(lowered, *args, **kwargs)
        trace.tell(lambda: replaced_nodes(lowered))
        trace.tell(fusion.told)
        trace.tell(lambda: cuda_graph_facts(made, wanted, kwargs))
        return made

    of = gm.graph
    with provenance():
        compiled: Any = compile_fx(gm, inputs, inner_compile=inner_compile, config_patches=config)
    return compiled  # type: ignore[no-any-return]


CompileLowered = Callable[..., CompiledFn]


def lower_with_inductor(
    gm: torch.fx.GraphModule,
    inputs: Sequence[Any],
    config: dict[str, Any],
    compile_lowered: CompileLowered,
) -> CompiledFn:
    """Lowers a Dynamo graph to ATen as Inductor does, for somebody else to compile. No caches.

    Args:
        gm: The graph; it is taken over and may be changed.
        inputs: Its example inputs.
        config: From `inductor_config`.
        compile_lowered: Called with each ATen graph, its fake inputs, and what Inductor's own
            compiler gets besides; gives a function of a list of inputs, which it may empty.
    """
    from torch._functorch import config as functorch_config
    from torch._inductor.compile_fx import compile_fx

    def inner_compile(lowered: torch.fx.GraphModule, given: Sequence[Any], **kwargs: Any) -> Any:
        compiled = compile_lowered(lowered, given, **kwargs)
        compiled._boxed_call = True  # type: ignore[attr-defined]
        return compiled

    with functorch_config.patch({"enable_autograd_cache": False}):
        compiled: Any = compile_fx(gm, inputs, inner_compile=inner_compile, config_patches=config)
    return compiled  # type: ignore[no-any-return]


def stage_of(kwargs: Mapping[str, Any]) -> str:
    """The stage of a lowered graph, from what Inductor's inner compiler is given."""
    if kwargs.get("is_backward"):
        return "backward"
    return "inference" if kwargs.get("is_inference") else "forward"


def reset_inductor() -> None:
    """What ``torch._dynamo.reset`` asks of the Inductor backend: forget CUDA graph pools."""
    if torch.cuda.is_available():
        from torch._inductor.cudagraph_trees import reset_cudagraph_trees

        reset_cudagraph_trees()


def find_cpp_compiler() -> str:
    """The C++ compiler Inductor would use.

    Raises:
        MissingCompilerError: It finds none that works.
    """
    from torch._inductor import cpp_builder
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        return str(cpp_builder.get_cpp_compiler())
    except InvalidCxxCompiler as error:
        raise MissingCompilerError(MISSING_COMPILER) from error


def explain_failure(error: BaseException) -> str:
    """A sentence on what to do, for failures with a known remedy; else empty."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if type(cause).__name__ == "InvalidCxxCompiler" or "InvalidCxxCompiler" in str(cause):
            return MISSING_COMPILER
        cause = getattr(cause, "inner_exception", None) or cause.__cause__
    return ""


@probe("Inductor's entry", seen_on="2.11, 2.13, 2.14")
def _probe_compile_fx() -> str:
    from torch._inductor.compile_fx import compile_fx

    parameters = inspect.signature(compile_fx).parameters
    for name in ("inner_compile", "config_patches"):
        if name not in parameters:
            raise TypeError(f"compile_fx has no parameter {name}")
    return f"compile_fx with {len(parameters)} parameters"


@probe("Inductor's modes and options", seen_on="2.11, 2.13, 2.14")
def _probe_wrapper() -> str:
    return f"{len(inductor_config('max-autotune', None))} settings in mode max-autotune"


def known_settings(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of Inductor's settings that this torch has."""
    from torch._inductor import config

    known = config.get_config_copy()
    return {name: value for name, value in wanted.items() if name in known}


CUSTOM_PASSES = (
    "pre_grad_custom_pass",
    "joint_custom_pre_pass",
    "joint_custom_post_pass",
    "post_grad_custom_pre_pass",
    "post_grad_custom_post_pass",
)


def custom_passes(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Settings that hold a pass of the user's own.

    Args:
        config: From `inductor_config`; torch's settings hold where it has none.
    """
    from torch._inductor import config as settings

    return tuple(
        name
        for name in CUSTOM_PASSES
        if config.get(name, getattr(settings, name, None)) is not None
    )


@probe("Inductor's custom passes", seen_on="2.11, 2.13, 2.14")
def _probe_custom_passes() -> str:
    missing = set(CUSTOM_PASSES) - set(known_settings(dict.fromkeys(CUSTOM_PASSES)))
    if missing:
        raise AttributeError(f"Inductor has no {', '.join(sorted(missing))}")
    return f"{len(CUSTOM_PASSES)} places for custom passes"
