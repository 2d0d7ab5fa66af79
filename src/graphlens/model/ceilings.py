"""What a machine can do at most, measured on the spot: how fast it copies and multiplies."""

from graphlens.model.base import Data
from graphlens.model.timing import Measured
from graphlens.model.unavailable import Unavailable

NO_CEILINGS = Unavailable("no kernel was timed; use graphlens.compare with backend inductor")


class Speed(Data, frozen=True, kw_only=True):
    """A speed in bytes or operations per second.

    Attributes:
        best: Of the fastest round: what shares are of, as other work on the machine can only
            lower it.
        usual: The median of the rounds with its interval.
    """

    best: float
    usual: Measured


class ProductSpeed(Data, frozen=True, kw_only=True):
    """How fast matrices of a dtype are multiplied.

    Attributes:
        dtype: Short torch name.
        size: Rows and columns of both matrices.
        speed: Floating-point operations per second; a multiplication and an addition are two.
    """

    dtype: str
    size: int
    speed: Speed


class Ceilings(Data, frozen=True, kw_only=True, tag="ceilings", tag_field="kind"):
    """What the machine can do at most, with the threads and settings of the program.

    Attributes:
        device: Such as ``cpu`` or ``cuda:0``.
        threads: Torch's intra-operator threads.
        copy: Bytes per second of a copy of a tensor, those read and those written together.
        copy_bytes: Of one copy, read and written.
        cache_bytes: Of the largest copy that was half as fast again as that: so much a cache may
            hold; of a GPU its L2 cache.
        products: Matrix products, by dtype.
        call_seconds: Of a call that computes one number: what any call takes.
    """

    device: str
    threads: int
    copy: Speed
    copy_bytes: int
    cache_bytes: int = 0
    products: tuple[ProductSpeed, ...] = ()
    call_seconds: float = 0.0
