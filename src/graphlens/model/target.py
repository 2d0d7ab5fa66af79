"""A GPU that code is generated for, whether or not one is in the machine."""

from graphlens.model.base import Data


class Peaks(Data, frozen=True, kw_only=True):
    """Floating-point operations per second, without sparsity; 0 where a unit cannot do it.

    Attributes:
        float32: Of the scalar units, also for narrower dtypes.
        float64: Of the scalar units.
        matrix_tf32: Of the tensor cores, as those below; float32 with 10 bits of fraction.
        matrix_float16: For float16.
        matrix_bfloat16: For bfloat16.
    """

    float32: float
    float64: float
    matrix_tf32: float = 0.0
    matrix_float16: float = 0.0
    matrix_bfloat16: float = 0.0


class Target(Data, frozen=True, kw_only=True):
    """What a GPU offers a kernel. All numbers are the vendor's.

    Attributes:
        name: By which a user asks for it, such as ``h100``.
        title: The product.
        capability: Compute capability, such as ``(9, 0)``.
        multiprocessors: How many of them it has.
        threads: Most resident threads of a multiprocessor.
        blocks: Most resident thread blocks of a multiprocessor.
        registers: 32-bit registers of a multiprocessor.
        shared_bytes: Shared memory of a multiprocessor.
        shared_bytes_per_block: Most shared memory of one thread block.
        l2_bytes: Level-2 cache.
        memory_bytes: Device memory.
        bandwidth: Of device memory, in bytes per second.
        peaks: Of its arithmetic.
        source: Where the numbers are from.
    """

    name: str
    title: str
    capability: tuple[int, int]
    multiprocessors: int
    threads: int
    blocks: int
    registers: int
    shared_bytes: int
    shared_bytes_per_block: int
    l2_bytes: int
    memory_bytes: int
    bandwidth: float
    peaks: Peaks
    source: str

    @property
    def compute(self) -> str:
        """The capability as compilers write it, such as ``90``."""
        return f"{self.capability[0]}{self.capability[1]}"
