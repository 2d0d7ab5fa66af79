"""Where a run is made: versions, devices, probes."""

import platform
from functools import cache

import torch

from graphlens._torch.probes import failed_notes, run_probes
from graphlens.model import Environment, Note, Probe, Unavailable
from graphlens.version import __version__


def environment() -> Environment:
    """This process's environment now."""
    return Environment(
        graphlens=__version__,
        torch=str(torch.__version__),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        devices=_devices(),
        threads=torch.get_num_threads(),
        probes=_probes(),
    )


@cache
def _probes() -> tuple[Probe, ...]:
    return run_probes()


def environment_notes(where: Environment) -> tuple[Note, ...]:
    """What a reader must know about the environment."""
    return failed_notes(where.probes)


def _devices() -> tuple[str, ...] | Unavailable:
    """Names of GPUs; asking torch for them would start CUDA in a program that does not use it."""
    if not torch.cuda.is_available():
        return ()
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return Unavailable("the program has not used CUDA, and a report must not start it")
    return tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
