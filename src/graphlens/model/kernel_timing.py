"""Time of kernels in a real run, and what bounds it."""

from graphlens.model.base import Data
from graphlens.model.timing import Measured
from graphlens.model.unavailable import Unavailable

KERNELS_NOT_TIMED = Unavailable("kernels were not timed; use graphlens.compare")


class Bound(Data, frozen=True, kw_only=True, tag="bound", tag_field="kind"):
    """What bounds the speed of a kernel.

    Attributes:
        by: ``memory`` (nearest to the speed of a copy), ``memory_or_cache`` (the same of a kernel
            that moves so little that a cache may hold it), ``compute`` (nearest to the speed of a
            matrix product), ``cache`` (faster than a copy can be: its data was in the cache),
            ``call`` (too short: the call itself takes a large part), ``neither`` (far from both).
        of_copy: Bytes that it moves in a second, as a share of those of a copy.
        of_product: Floating-point operations in a second, as a share of those of a matrix product
            in its dtype.
    """

    by: str
    of_copy: float | Unavailable
    of_product: float | Unavailable


class KernelTimes(Data, frozen=True, kw_only=True, tag="kernel_times", tag_field="kind"):
    """All kernels of a graph together, against the graph in the same rounds.

    Attributes:
        kernels: Seconds of all kernels of one run.
        program: Seconds of the generated program, from its first statement to its last.
        graph: Seconds of the graph, as it is timed with other candidates, without marks in its
            program.
        between: Program less kernels: Python, allocating and freeing.
        around: Graph less program: what torch does around it, such as autograd's work with
            gradients; noise between runs with and without marks, too.
        covered: Kernels divided by graph, paired by round.
        mark_seconds: What timing one kernel takes; it has been taken off.
    """

    kernels: Measured
    program: Measured
    graph: Measured
    between: Measured
    around: Measured
    covered: Measured
    mark_seconds: float = 0.0
