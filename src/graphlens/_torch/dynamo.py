"""Dynamo: compile ids, the backend registry, reasons left on a graph, and errors.

Seen on torch 2.11, 2.13 and 2.14 unless a function says otherwise.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch

from graphlens._torch.probes import probe
from graphlens.errors import UsageError
from graphlens.suggestions import nearest_first

CompiledFn = Callable[..., Any]


def current_compile_id() -> str:
    """The compile id of the compilation this thread is in; empty outside of one."""
    from torch._guards import CompileContext

    compile_id = CompileContext.current_compile_id()
    return "" if compile_id is None else str(compile_id)


def current_attempt() -> int:
    """How often tracing was started again in this thread's compilation."""
    from torch._guards import CompileContext

    trace_id = CompileContext.current_trace_id()
    return 0 if trace_id is None else int(trace_id.attempt)


def backend_names() -> list[str]:
    """Every name ``torch.compile(backend=...)`` takes, debugging backends included."""
    from torch._dynamo.backends.registry import list_backends

    return list(list_backends(exclude_tags=()))


def lookup_backend(name: str) -> CompiledFn:
    """The backend registered by a name.

    Raises:
        UsageError: There is none; the message lists those there are, nearest first.
    """
    from torch._dynamo.backends.registry import lookup_backend

    names = backend_names()
    if name not in names:
        shown = nearest_first(name, (n for n in names if not n.endswith("_TESTING_ONLY")))
        raise UsageError(f"There is no backend {name!r}. Valid, nearest first: {shown}.")
    return lookup_backend(name)


def is_registered(name: str) -> bool:
    """Whether torch's registry holds a backend's function already."""
    from torch._dynamo.backends import registry

    return name in registry._COMPILER_FNS


def innermost(compiled: CompiledFn) -> CompiledFn:
    """A compiled function without the wrapper that keeps Dynamo off it.

    Dynamo puts its own such wrapper around what a backend returns, and takes an inner one off
    first (``torch._dynamo.disable``); a wrapper of ours would hide the inner one and pay twice.
    """
    from torch._dynamo.eval_frame import innermost_fn

    return innermost_fn(compiled)


def break_reason(gm: torch.fx.GraphModule) -> str:
    """Torch's short reason for ending the graph where it did; empty at the function's return."""
    reason = getattr(gm, "compile_subgraph_reason", None)
    if reason is None or not getattr(reason, "graph_break", False):
        return ""
    return str(getattr(reason, "reason", ""))


def is_saved_by_torch(compiled: CompiledFn) -> bool:
    """Whether Dynamo may save what the backend returned, so that it must stay as it is.

    Precompilation caches it (``caching_precompile``), and ``aot_compile`` takes objects that save
    themselves (torch 2.13 and 2.14).
    """
    if getattr(torch._dynamo.config, "caching_precompile", False):
        return True
    return hasattr(compiled, "serialize_compile_artifacts")


def keep_serialize(wrapper: CompiledFn, compiled: CompiledFn) -> None:
    """Gives a wrapper the way to save the compiled function that it calls.

    ``aot_compile`` looks for it on what the backend returned (torch 2.13 and 2.14).
    """
    serialize = getattr(compiled, "serialize", None)
    if serialize is not None:
        wrapper.serialize = serialize  # type: ignore[attr-defined]


def blame(inner: str, error: Exception) -> Exception:
    """The error to raise for a failure of an inner backend, naming it and not us.

    Dynamo wraps a backend's error in ``BackendCompilerFailed`` with the backend's name. Its own
    errors, and those it handles itself, must reach it as they are.
    """
    from torch._dynamo import exc

    if isinstance(error, _handled_by_dynamo()):
        return error

    def named() -> None: ...

    named.__name__ = inner
    # Torch shortens the traceback up to this frame, which must be one that caught the error.
    here = inspect.currentframe()
    failed = exc.BackendCompilerFailed(named, error, here.f_back if here else None)
    return failed.with_traceback(error.__traceback__)


def _handled_by_dynamo() -> tuple[type[BaseException], ...]:
    from torch._dynamo import exc

    names = ("ShortenTraceback", "SkipFrame", "TensorifyScalarRestartAnalysis", "RestartAnalysis")
    own = tuple(getattr(exc, name) for name in names if hasattr(exc, name))
    return (*own, IndexError, *exc.exceptions_allowed_to_be_fallback)


def original_callable(fn: Any) -> Any:
    """What the user compiled: a compiled function or module without its compilation.

    A module that ``Module.compile`` was called on stays as it is; its uncompiled call, which is
    what ``Module.compile`` compiles, is returned (seen on torch 2.13 and 2.14).
    """
    if isinstance(fn, torch._dynamo.OptimizedModule):
        fn = fn._orig_mod
    while hasattr(fn, "_torchdynamo_orig_callable"):
        fn = fn._torchdynamo_orig_callable
    if isinstance(fn, torch.nn.Module) and fn._compiled_call_impl is not None:
        return fn._call_impl
    return fn


@probe("compile id of the running compilation", seen_on="2.11, 2.13, 2.14")
def _probe_compile_id() -> str:
    return f"outside of a compilation: {current_compile_id()!r}"


@probe("backend registry", seen_on="2.11, 2.13, 2.14")
def _probe_registry() -> str:
    if is_registered("no such backend"):
        raise TypeError("the registry holds every name")
    return f"{len(backend_names())} backends"


@probe("innermost function of a compiled one", seen_on="2.11, 2.13, 2.14")
def _probe_innermost() -> str:
    function = torch._dynamo.disable(_probe_registry)  # type: ignore[no-untyped-call]
    if innermost(function) is not _probe_registry:
        raise TypeError("innermost_fn did not return the wrapped function")
    return "found"


@probe("Dynamo's errors", seen_on="2.11, 2.13, 2.14")
def _probe_errors() -> str:
    error = blame("probe", RuntimeError("probe"))
    if getattr(error, "backend_name", "") != "probe":
        raise TypeError("BackendCompilerFailed has no backend_name")
    return f"{len(_handled_by_dynamo())} handled by Dynamo itself"
