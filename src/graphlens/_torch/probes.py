"""Probes: whether the private parts of torch that GraphLens relies on are as they were seen.

Each file of this package declares a probe for what it touches. A probe that fails becomes a note
in the report and a row of ``graphlens doctor``; it is never a crash at import and never silence.
"""

from collections.abc import Callable
from importlib import import_module

import torch

from graphlens.model import Note, Probe

Check = Callable[[], str]

_AREAS = (
    "aot",
    "attention",
    "cache_lookups",
    "compile_error",
    "compile_phases",
    "compiling_frame",
    "cuda_graphs",
    "dispatch",
    "dynamo",
    "eager",
    "failing_node",
    "fusion",
    "fx",
    "generated_code",
    "generated_modules",
    "guards",
    "inductor",
    "interpreted_program",
    "isolation",
    "kernel_binaries",
    "marked",
    "memory",
    "onednn_graph",
    "pretend_gpu",
    "provenance",
    "retarget",
    "settings",
    "trace",
    "triton_kernels",
    "widened",
)
_probes: dict[str, tuple[str, Check]] = {}


def probe(name: str, seen_on: str) -> Callable[[Check], Check]:
    """Declares a check that returns what it found, or raises.

    Args:
        name: What is probed, for people.
        seen_on: Torch versions it was seen working on.
    """

    def declare(check: Check) -> Check:
        _probes[name] = (seen_on, check)
        return check

    return declare


def run_probes() -> tuple[Probe, ...]:
    """Runs every declared probe.

    What is found is kept for the process, so the modes in which the first caller stands, such as
    one without gradients, must not decide it.
    """
    for area in _AREAS:
        import_module(f"graphlens._torch.{area}")
    with torch.inference_mode(False), torch.enable_grad(), torch.device("cpu"):
        return tuple(_run(name, *declared) for name, declared in sorted(_probes.items()))


def failed_notes(probes: tuple[Probe, ...]) -> tuple[Note, ...]:
    """A note for each probe that failed."""
    return tuple(
        Note(
            code="probe-failed",
            message=f"{probe.name}: {probe.detail} (seen on torch {probe.seen_on})",
            hint="Parts of this report may be missing. `graphlens doctor` says which torch fits.",
        )
        for probe in probes
        if not probe.ok
    )


def _run(name: str, seen_on: str, check: Check) -> Probe:
    try:
        return Probe(name=name, ok=True, detail=check(), seen_on=seen_on)
    except Exception as error:  # noqa: BLE001  whatever is missing is the finding
        detail = f"{type(error).__name__}: {error}"
        return Probe(name=name, ok=False, detail=detail, seen_on=seen_on)
