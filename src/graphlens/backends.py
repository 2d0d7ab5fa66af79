"""The backends torch finds by name: ``torch.compile(model, backend="graphlens")``.

Torch loads this module through `graphlens.entry` when a name is first used, before it compiles
anything: from then on the process-wide recorder listens.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from graphlens._torch.inductor import reset_inductor
from graphlens.capture.backend import OnCompiled, compile_graph
from graphlens.capture.options import LensOptions, lens_options, split_options
from graphlens.capture.process import process_recorder
from graphlens.checks.process_comparison import compile_to_compare
from graphlens.display import announce, print_compiled

CompiledFn = Callable[..., Any]
CompileGraph = Callable[
    [torch.fx.GraphModule, Sequence[Any], LensOptions, dict[str, Any], OnCompiled], CompiledFn
]


def graphlens(gm: torch.fx.GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledFn:
    """Inspects, and forwards to Inductor or to the option ``graphlens.inner``."""
    return _compile(gm, inputs, keywords, {})


def graphlens_eager(gm: torch.fx.GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledFn:
    """Inspects, and runs the captured graph as it is."""
    return _compile(gm, inputs, keywords, {"graphlens.inner": "eager"})


def graphlens_aot_eager(
    gm: torch.fx.GraphModule, inputs: Sequence[Any], **keywords: Any
) -> CompiledFn:
    """Inspects, lowers to ATen, and runs the lowered graphs eagerly."""
    return _compile(gm, inputs, keywords, {"graphlens.inner": "aot_eager"})


def graphlens_compare(
    gm: torch.fx.GraphModule, inputs: Sequence[Any], **keywords: Any
) -> CompiledFn:
    """Inspects and compiles, and has each graph compared with eager when the report is asked for.

    Calls of each graph are kept until then, with copies of their inputs.
    """
    return _compile(gm, inputs, keywords, {}, compile_to_compare)


# torch._dynamo.reset() asks each backend to reset itself.
graphlens.reset = reset_inductor  # type: ignore[attr-defined]


class LensBackend:
    """A backend object around any registered name or callable; see `backend`."""

    def __init__(self, options: LensOptions) -> None:
        self.options = options
        self.__name__ = "graphlens"
        announce(options)
        process_recorder()

    def __call__(
        self, gm: torch.fx.GraphModule, inputs: Sequence[Any], **keywords: Any
    ) -> CompiledFn:
        given = _as_options(self.options)
        return _compile(gm, inputs, keywords, given)

    # Torch recompiles when a function is compiled again with a backend that is not equal.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, LensBackend) and self.options == other.options

    def __hash__(self) -> int:
        return hash(self.options)

    def reset(self) -> None:
        """Called by ``torch._dynamo.reset()``."""
        inner = self.options.inner
        if inner == "inductor":
            reset_inductor()
        elif hasattr(inner, "reset"):
            inner.reset()


def backend(inner: str | CompiledFn = "inductor", **options: Any) -> LensBackend:
    """A backend around another one.

    Args:
        inner: Any registered backend's name, or a callable that takes a graph and its inputs.
        **options: ``show``, ``rows`` and ``out``, as the ``graphlens.*`` options.

    Raises:
        UsageError: An option is unknown or has a wrong value.
    """
    return LensBackend(lens_options({"inner": inner, **options}))


def _compile(
    gm: torch.fx.GraphModule,
    inputs: Sequence[Any],
    keywords: dict[str, Any],
    defaults: dict[str, Any],
    compile: CompileGraph = compile_graph,
) -> CompiledFn:
    given = keywords.pop("options", None)
    options, others = split_options({**defaults, **(given or {})})
    announce(options)
    process_recorder()
    if others:
        keywords["options"] = others
    return compile(gm, inputs, options, keywords, print_compiled)


def _as_options(options: LensOptions) -> dict[str, Any]:
    names = ("show", "rows", "out", "inner")
    return {f"graphlens.{name}": getattr(options, name) for name in names}


process_recorder()
