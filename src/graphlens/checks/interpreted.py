"""Programs for a GPU, run on CPU tensors by Triton's interpreter in a child process."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from graphlens._torch.interpreted_program import READY, SKIPPED
from graphlens.analysis.targets import target_json
from graphlens.model import Target, Unavailable

Progress = Callable[[str], None]

_CHILD = "graphlens._torch.interpreted_program"
_STARTING = 120.0  # seconds in which torch and Triton are imported, on a busy machine
_POLL = 0.05


@dataclass
class ProgramRun:
    """What is run.

    Attributes:
        name: For people.
        code: The program.
        inputs: Tensors on the CPU and numbers; never changed.
        random_state: Of the CPU's generator, from which seeds are drawn.
    """

    name: str
    code: str
    inputs: list[Any]
    random_state: torch.Tensor


@dataclass
class KernelRun:
    """One call of a Triton kernel.

    Attributes:
        name: Of the kernel.
        before: Its arguments before the call: tensors, None for numbers.
        after: Its arguments after it; empty where it did not come to its end.
        beside: Elements read and written beside the kernel's tensors, by ``read`` and ``write``.
    """

    name: str
    before: list[torch.Tensor | None]
    after: list[torch.Tensor | None]
    beside: dict[str, int]


@dataclass
class Interpreted:
    """What a program gave.

    Attributes:
        outputs: Its results.
        inputs: What it was given, as it is afterwards.
        runs: Of its kernels, in order.
        error: What stopped it; empty where nothing did.
    """

    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    runs: list[KernelRun] = field(default_factory=list)
    error: str = ""


def interpret(
    programs: Sequence[ProgramRun],
    target: Target,
    budget: float,
    progress: Progress = lambda _: None,
) -> list[Interpreted | Unavailable]:
    """Runs programs in order, in one child process.

    Args:
        programs: Generated for the target.
        target: The GPU, whose number of multiprocessors some programs ask for.
        budget: Seconds for each program.
        progress: Told what is going on.

    Returns:
        What each gave, or why nothing is known of it.
    """
    if not programs:
        return []
    with tempfile.TemporaryDirectory(prefix="graphlens-") as folder:
        unwritten = {
            number: why
            for number, program in enumerate(programs)
            if (why := _written(program, target, Path(folder) / f"{number}.in")) is not None
        }
        errors = Path(folder) / "stderr"
        with open(errors, "w") as log:
            child = subprocess.Popen(  # noqa: S603  our own module
                [sys.executable, "-m", _CHILD, folder],
                stdout=log,
                stderr=log,
                env=_environment(),
            )
            try:
                found = _collected(child, Path(folder), programs, budget, progress)
            finally:
                child.kill()
                child.wait()
        return [
            unwritten.get(number) or one or Unavailable(_ended(errors))
            for number, one in enumerate(found)
        ]


def _written(program: ProgramRun, target: Target, path: Path) -> Unavailable | None:
    """Writes what the child is given; why that cannot be, where it cannot."""
    try:
        torch.save(_given(program, target), path)
    except Exception as error:  # noqa: BLE001  subclasses of tensors may refuse in any way
        torch.save({SKIPPED: True}, path)
        first = str(error).strip().partition("\n")[0]
        return Unavailable(f"its inputs cannot be handed over: {type(error).__name__}: {first}")
    return None


def _given(program: ProgramRun, target: Target) -> dict[str, Any]:
    return {
        "target": target_json(target),
        "code": program.code,
        "inputs": [
            one.detach() if isinstance(one, torch.Tensor) else one for one in program.inputs
        ],
        "random_state": program.random_state,
    }


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(os.path.abspath(one) for one in sys.path)
    return os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""}


def _collected(
    child: "subprocess.Popen[bytes]",
    folder: Path,
    programs: Sequence[ProgramRun],
    budget: float,
    progress: Progress,
) -> list[Interpreted | Unavailable | None]:
    """Results as they come; None where the child ended without one."""
    found: list[Interpreted | Unavailable | None] = [None] * len(programs)
    progress("starting Triton's interpreter")
    _wait(child, folder / READY, _STARTING)
    for number, program in enumerate(programs):
        progress(f"{program.name}: running in Triton's interpreter")
        path = folder / f"{number}.out"
        _wait(child, path, budget)
        if path.exists():
            found[number] = _read(path)
        elif child.poll() is None:
            slow = Unavailable(_TOO_SLOW.format(budget))
            return found[:number] + [slow] * (len(programs) - number)
    return found


def _wait(child: "subprocess.Popen[bytes]", path: Path, seconds: float) -> None:
    """Until there is a file, the child ends, or the time is over."""
    end = time.monotonic() + seconds
    while not path.exists() and child.poll() is None and time.monotonic() < end:
        time.sleep(_POLL)


_TOO_SLOW = (
    "Triton's interpreter did not come to the end in {:g} s; give smaller inputs, or more time, "
    "such as budget=600"
)


def _read(path: Path) -> Interpreted:
    made = torch.load(path, weights_only=True)
    runs = [KernelRun(**one) for one in made["runs"]]
    return Interpreted(made["outputs"], made.get("inputs", []), runs, made["error"])


def _ended(errors: Path) -> str:
    said = errors.read_text(errors="replace").strip().splitlines()
    last = f": {said[-1]}" if said else ""
    return f"the process that runs Triton's interpreter ended early{last}"
