"""Triton kernels compiled for a GPU that is not there, by Triton's own compiler and its ``ptxas``.

What a kernel uses is read from the machine code by ``cuobjdump``, which comes with Triton. Seen on
Triton 3.6, 3.7 and 3.8.
"""

import ast
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from graphlens._torch.pretend_gpu import pretend_gpu, triton_target
from graphlens._torch.probes import probe
from graphlens._torch.triton_kernels import (
    compile_arguments,
    grid_of,
    load_kernel,
    parameters,
    sizes_in,
)
from graphlens.analysis.occupancy import occupancy
from graphlens.model import Kernel, KernelBinary, Target, Unavailable

Progress = Callable[[str], None]
Binaries = tuple[KernelBinary, ...] | Unavailable

_USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)")


def compile_kernels(
    kernels: Sequence[Kernel],
    target: Target,
    all_configs: bool = True,
    progress: Progress = lambda _: None,
) -> list[Binaries]:
    """Compiles kernels; of one that is called several times, once.

    Args:
        kernels: Of a program for the target; only those in Triton are compiled.
        target: The GPU.
        all_configs: Whether every configuration that the GPU would choose from is compiled, or
            the first only.
        progress: Told what is going on.

    Returns:
        For each kernel its compiled forms, or why there is none.
    """
    known: dict[str, Binaries] = {}
    found: list[Binaries] = []
    with pretend_gpu(target), tempfile.TemporaryDirectory(prefix="graphlens-") as folder:
        for kernel in kernels:
            if kernel.language != "Triton":
                found.append(Unavailable(f"no Triton kernel but {kernel.language}"))
                continue
            sizes = [one for one in _arguments(kernel.call) if one is not None]
            key = f"{sizes} {kernel.source}"
            if key not in known:
                progress(f"compiling {kernel.name} for {target.name}")
                known[key] = _compiled(kernel, target, folder, all_configs)
            found.append(known[key])
    return found


def _compiled(kernel: Kernel, target: Target, folder: str, all_configs: bool) -> Binaries:
    try:
        tuner = load_kernel(kernel.name, kernel.source, folder)
        configs = tuner.configs if all_configs else tuner.configs[:1]
        return tuple(_binary(kernel, tuner, config, target, folder) for config in configs)
    except Exception as error:  # noqa: BLE001  what Triton cannot compile is a finding
        first = str(error).strip().partition("\n")[0]
        return Unavailable(f"Triton did not compile it: {type(error).__name__}: {first}")


def _binary(kernel: Kernel, tuner: Any, config: Any, target: Target, folder: str) -> KernelBinary:
    import triton

    source, options = compile_arguments(tuner, config)
    made = triton.compile(source, target=triton_target(target), options=options)
    cubin = bytes(made.asm["cubin"])
    registers, spilled, shared = _usage(cubin, folder)
    shared = max(shared, int(made.metadata.shared))  # that of the launch is not in the code
    warps = int(made.metadata.num_warps)
    held = occupancy(target, warps, registers, shared)
    return KernelBinary(
        config=tuple(sorted((str(k), int(v)) for k, v in config.kwargs.items())),
        warps=warps,
        stages=int(config.num_stages),
        registers=registers,
        spilled_bytes=spilled,
        shared_bytes=shared,
        resident_warps=held.warps,
        most_warps=held.most,
        limits=held.limits,
        grid=_grid(kernel, tuner, config),
        ptx=str(made.asm["ptx"]),
        cubin=cubin,
    )


def _grid(kernel: Kernel, tuner: Any, config: Any) -> tuple[int, ...] | Unavailable:
    sizes = sizes_in(parameters(tuner, config), _arguments(kernel.call))
    try:
        return grid_of(tuner, config, sizes)
    except (NameError, KeyError, TypeError):
        return Unavailable("the sizes are known only when the program runs")


def _arguments(call: str) -> list[Any]:
    """Positional arguments of a call in a program; None for what is no number."""
    parsed = ast.parse(call.strip(), mode="eval").body
    given = parsed.args if isinstance(parsed, ast.Call) else []
    return [one.value if isinstance(one, ast.Constant) else None for one in given]


def _usage(cubin: bytes, folder: str) -> tuple[int, int, int]:
    """Registers and bytes of stack of a thread, and bytes of shared memory of a block."""
    path = os.path.join(folder, "kernel.cubin")
    with open(path, "wb") as file:
        file.write(cubin)
    command = [_tool(), "-res-usage", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    found = _USAGE.search(done.stdout + done.stderr)
    if found is None:
        raise RuntimeError(f"cuobjdump said {(done.stdout + done.stderr).strip()[:200]!r}")
    registers, stack, shared = map(int, found.groups())
    return registers, stack, shared


def _tool() -> str:
    import triton

    return os.path.join(os.path.dirname(triton.__file__), "backends/nvidia/bin/cuobjdump")


@probe("Triton's tools for NVIDIA GPUs", seen_on="2.11, 2.13, 2.14")
def _probe_tools() -> str:
    try:
        import triton
    except ImportError:
        return "not tried: Triton is not installed (pip install triton)"
    if not os.access(_tool(), os.X_OK):
        raise FileNotFoundError("Triton comes without cuobjdump")
    return f"cuobjdump of Triton {triton.__version__}"
