"""A child process: runs programs for a GPU on CPU tensors, their kernels in Triton's interpreter.

``TRITON_INTERPRET=1`` must be there before Triton's and torch's helper modules are imported, since
these hold jitted functions of their own; hence a process of its own, in which names of torch are
replaced for good. ``python -m graphlens._torch.interpreted_program FOLDER`` reads ``N.in`` for N
from 0 on and writes ``N.out``. Seen on torch 2.11, 2.13 and 2.14 with Triton 3.6, 3.7 and 3.8.
"""

import contextlib
import functools
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from graphlens._torch.probes import probe


def main(folder: str) -> None:
    """Runs all programs of a folder in order."""
    count = len(list(Path(folder).glob("*.in")))
    given = [torch.load(Path(folder) / f"{n}.in", weights_only=True) for n in range(count)]
    wanted = [one for one in given if SKIPPED not in one]
    runner = _Runner(wanted[0]["target"]) if wanted else None
    (Path(folder) / READY).touch()
    for number, one in enumerate(given):
        made: dict[str, Any] = {"outputs": [], "runs": [], "error": SKIPPED}
        if runner is not None and SKIPPED not in one:
            made = runner.run(one)
        partial = Path(folder) / f"{number}.partial"
        torch.save(made, partial)
        os.replace(partial, Path(folder) / f"{number}.out")


READY = "ready"  # a file: all is imported, and the programs' time begins
SKIPPED = "skipped"


class _Runner:
    """Runs programs; made once in a process, which it changes."""

    def __init__(self, target: str) -> None:
        from torch._inductor import async_compile
        from torch._inductor.runtime import triton_helpers
        from triton.language.extra.cuda import libdevice
        from triton.runtime.interpreter import (
            TensorHandle,
            interpreter_builder,
            interpreter_semantic,
        )

        from graphlens._torch.attention_on_cpu import register_on_cpu
        from graphlens._torch.checked_memory import CheckedMemory
        from graphlens._torch.libdevice_on_cpu import Libdevice, extern_elementwise
        from graphlens._torch.pretend_gpu import pretend_gpu
        from graphlens.analysis.targets import target_from_json

        self.memory = CheckedMemory()
        self.memory.watch(interpreter_builder)
        interpreter_builder.create_extern_elementwise = functools.partial(
            extern_elementwise, TensorHandle
        )
        helpers: Any = triton_helpers
        helpers.libdevice = Libdevice(libdevice, interpreter_semantic)
        self.folder = tempfile.TemporaryDirectory(prefix="graphlens-")
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(pretend_gpu(target_from_json(target, "the target")))
        self.library = register_on_cpu()
        self.runs: list[dict[str, Any]] = []
        _replace_device()
        compiler: Any = async_compile.AsyncCompile
        compiler.triton = self._kernel
        compiler.wait = lambda *_: None

    def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """One program: its outputs, what each kernel read and wrote, and what stopped it."""
        self.runs = []
        made: dict[str, Any] = {"outputs": [], "runs": self.runs, "error": ""}
        try:
            space: dict[str, Any] = {"__name__": "program", "__file__": "program"}
            exec(compile(_on_cpu(given["code"]), "program", "exec"), space)  # noqa: S102
            torch.set_rng_state(given["random_state"])
            inputs = list(given["inputs"])
            with torch.no_grad():
                made["outputs"] = list(space["call"](list(inputs)))
            made["inputs"] = inputs
        except Exception as error:  # noqa: BLE001  the parent tells the user
            cause = error
            while cause.__cause__ is not None and type(cause).__name__ == "InterpreterError":
                cause = cause.__cause__  # type: ignore[assignment]
            first = (str(cause).strip() or "without a message").partition("\n")[0]
            made["error"] = f"{type(cause).__name__}: {first}"
        return made

    def _kernel(self, name: str, source: str, *_: Any, **__: Any) -> "_Kernel":
        from graphlens._torch.triton_kernels import load_kernel

        return _Kernel(name, load_kernel(name, source, self.folder.name), self)


class _Kernel:
    """In a program's place of a kernel: runs it in the interpreter."""

    def __init__(self, name: str, tuner: Any, runner: _Runner) -> None:
        self.name = name
        self.tuner = tuner
        self.runner = runner

    def run(self, *args: Any, **_: Any) -> None:
        """As a program calls it; the stream is of no use here."""
        from graphlens._torch.triton_kernels import grid_of, parameters, sizes_in

        config = self.tuner.configs[0]
        names = parameters(self.tuner, config)
        made = {"name": self.name, "before": _copies(args), "after": [], "beside": {}}
        self.runner.runs.append(made)
        grid = grid_of(self.tuner, config, sizes_in(names, args))
        self.runner.memory.begin(args)
        self.tuner.fn[grid](*args, **config.kwargs)
        made["after"] = _copies(args)
        made["beside"] = self.runner.memory.beside


def _copies(args: tuple[Any, ...]) -> list[torch.Tensor | None]:
    return [one.detach().clone() if isinstance(one, torch.Tensor) else None for one in args]


def _on_cpu(code: str) -> str:
    return code.replace("device(type='cuda', index=0)", "device(type='cpu')")


def _replace_device() -> None:
    """What a program does with its device, done on the CPU."""
    c: Any = torch._C
    cuda: Any = torch.cuda
    c._cuda_getCurrentRawStream = lambda _: 0
    c._dynamo.guards._empty_strided_cuda = _unwritten
    cuda.set_device = lambda _: None
    cuda._DeviceGuard = lambda _: contextlib.nullcontext()
    cuda.synchronize = lambda _=None: None


def _unwritten(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
    """New memory that shows where it is read before it was written."""
    made = torch.empty_strided(size, stride, dtype=dtype)
    whole = made.as_strided((made.untyped_storage().nbytes() // made.itemsize,), (1,), 0)
    if dtype.is_floating_point or dtype.is_complex:
        whole.fill_(float("nan"))
    return made


@probe("Triton's interpreter", seen_on="2.11, 2.13, 2.14")
def _probe_interpreter() -> str:
    if find_spec("triton") is None:
        return "not tried: Triton is not installed (pip install triton)"
    from triton.runtime import interpreter

    builder = interpreter.interpreter_builder
    for owner, name in (
        (interpreter, "TensorHandle"),
        (interpreter, "interpreter_semantic"),
        (interpreter, "_get_np_dtype"),
        (builder, "create_masked_load"),
        (builder, "create_masked_store"),
        (builder, "create_atomic_rmw"),
        (builder, "create_atomic_cas"),
        (builder, "create_extern_elementwise"),
    ):
        if not hasattr(owner, name):
            raise AttributeError(f"it has no {name}")
    return "loads, stores and library functions can be taken over"


if __name__ == "__main__":
    main(sys.argv[1])
