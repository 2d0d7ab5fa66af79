"""Triton kernels that Inductor generated, loaded from their source. Seen on torch 2.11 to 2.14."""

import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import Any

from graphlens._torch.probes import probe


def load_kernel(name: str, source: str, folder: str) -> Any:
    """Inductor's tuner of a kernel: the kernel, and the configurations that it may run with.

    Triton reads a kernel's source from its file, which must stay while the kernel is used.

    Args:
        name: Of the kernel.
        source: The module that defines it.
        folder: Where the module is written.
    """
    path = os.path.join(folder, f"{name[:80]}_{len(os.listdir(folder))}.py")
    with open(path, "w") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def parameters(tuner: Any, config: Any) -> list[str]:
    """Names of what a call of a kernel gives, in order."""
    return [name for name in tuner.fn.arg_names if name not in config.kwargs]


def grid_of(tuner: Any, config: Any, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Thread blocks in x, y and z.

    Args:
        tuner: From `load_kernel`.
        config: One of its configurations.
        sizes: The kernel's arguments that are numbers, by name.
    """
    from torch._inductor.runtime.triton_heuristics import GridExpr

    grid = GridExpr.from_meta(tuner.inductor_meta, config)
    return tuple(int(one) for one in grid.eval_slow({**sizes, **config.kwargs}))


def compile_arguments(tuner: Any, config: Any) -> tuple[Any, dict[str, Any]]:
    """What Triton's compiler is given for a kernel: its source with types, and options."""
    from triton.compiler import ASTSource

    meta = tuner._create_compile_meta(config)
    source = ASTSource(tuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
    return source, tuner._create_compile_options(config, meta)


def sizes_in(names: Sequence[str], arguments: Sequence[Any]) -> dict[str, int]:
    """Arguments of a call that are numbers, by name."""
    return {
        name: value for name, value in zip(names, arguments, strict=False) if type(value) is int
    }


@probe("Inductor's Triton kernels", seen_on="2.11, 2.13, 2.14")
def _probe_tuner() -> str:
    try:
        import triton  # noqa: F401
    except ImportError:
        return "not tried: Triton is not installed (pip install triton)"
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner, GridExpr

    for owner, name in (
        (CachingAutotuner, "_create_compile_meta"),
        (CachingAutotuner, "_create_compile_options"),
        (GridExpr, "from_meta"),
        (GridExpr, "eval_slow"),
    ):
        if not callable(getattr(owner, name, None)):
            raise AttributeError(f"{owner.__name__} has no {name}")
    return "CachingAutotuner and GridExpr"
