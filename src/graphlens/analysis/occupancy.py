"""How many warps of a kernel a multiprocessor holds: the theoretical occupancy.

The arithmetic of NVIDIA's occupancy calculator: registers are given to warps in units of 256, to a
multiple of four warps; shared memory to blocks in units of 128 bytes (256 before capability 8.0),
and from 8.0 on the system keeps 1 KiB of it for each block. Source: CUDA Occupancy Calculator, and
"Shared Memory" in the CUDA tuning guides.
"""

from typing import NamedTuple

from graphlens.model import Target

WARP = 32
_REGISTER_UNIT = 256
_WARP_UNIT = 4


class Occupancy(NamedTuple):
    """What fits on one multiprocessor.

    Attributes:
        warps: Resident warps.
        most: Most resident warps of the target.
        limits: What would have to shrink for more: ``threads``, ``registers``,
            ``shared memory``, ``blocks``; empty where all warps fit.
    """

    warps: int
    most: int
    limits: tuple[str, ...]

    @property
    def share(self) -> float:
        """Resident warps of the most."""
        return self.warps / self.most


def occupancy(target: Target, warps: int, registers: int, shared_bytes: int) -> Occupancy:
    """The occupancy of a kernel.

    Args:
        target: The GPU.
        warps: Of one thread block.
        registers: Of one thread.
        shared_bytes: Of one thread block.
    """
    most = target.threads // WARP
    by_limit = {
        "threads": most // warps,
        "blocks": target.blocks,
        "registers": _by_registers(target, registers) // warps,
        "shared memory": _by_shared_memory(target, shared_bytes),
    }
    blocks = min(by_limit.values())
    resident = blocks * warps
    limits = tuple(name for name, fitting in by_limit.items() if fitting == blocks)
    return Occupancy(resident, most, () if resident == most else limits)


def _by_registers(target: Target, registers: int) -> int:
    """Warps whose registers fit."""
    of_warp = _rounded_up(max(registers, 1) * WARP, _REGISTER_UNIT)
    return target.registers // of_warp // _WARP_UNIT * _WARP_UNIT


def _by_shared_memory(target: Target, shared_bytes: int) -> int:
    """Blocks whose shared memory fits."""
    newer = target.capability >= (8, 0)
    of_block = _rounded_up(shared_bytes, 128 if newer else 256) + (1024 if newer else 0)
    return target.shared_bytes // of_block if of_block else target.blocks + 1  # no limit


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
