"""A kernel for a GPU that is not in the machine: its compiled form, and an estimate of its time."""

from graphlens.model.base import Data
from graphlens.model.unavailable import Unavailable

NOT_COMPILED = Unavailable("kernels are compiled for a GPU by graphlens.preview only")
NOT_ESTIMATED = Unavailable("times on a GPU are estimated by graphlens.preview only")


class KernelBinary(Data, frozen=True, kw_only=True):
    """A Triton kernel compiled for a target, with one of the configurations it may run with.

    Attributes:
        config: Block sizes by name, such as ``(("XBLOCK", 128),)``.
        warps: Of a thread block.
        stages: Of software pipelining.
        registers: Of a thread.
        spilled_bytes: Of a thread, in local memory because registers ran out; its stack.
        shared_bytes: Of a thread block.
        resident_warps: Of this kernel, that fit on a multiprocessor.
        most_warps: That fit on a multiprocessor at all.
        limits: What keeps more warps from fitting: ``threads``, ``blocks``, ``registers``,
            ``shared memory``; empty where all fit.
        grid: Thread blocks that are started in x, y and z.
        ptx: Its text in NVIDIA's virtual instructions.
        cubin: Its machine code.
    """

    config: tuple[tuple[str, int], ...]
    warps: int
    stages: int
    registers: int
    spilled_bytes: int
    shared_bytes: int
    resident_warps: int
    most_warps: int
    limits: tuple[str, ...] = ()
    grid: tuple[int, ...] | Unavailable = Unavailable("not known")
    ptx: str = ""
    cubin: bytes = b""

    @property
    def occupancy(self) -> float:
        """Theoretical occupancy: resident warps of the most."""
        return self.resident_warps / self.most_warps


class Estimate(Data, frozen=True, kw_only=True, tag="estimate", tag_field="kind"):
    """The least time of a kernel, from what it moves and computes.

    Attributes:
        seconds: At the target's peaks; a real kernel takes longer.
        bound: ``memory`` or ``compute``: which of the two takes that long.
        unit: What computes, as in `Peaks`.
    """

    seconds: float
    bound: str
    unit: str
