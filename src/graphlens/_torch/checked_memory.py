"""Memory accesses of interpreted kernels, checked: each must lie in a tensor that the kernel got.

On a GPU an access beside a tensor goes unnoticed more often than not. Here it is not made, but
counted, with the kernel that made it. Seen on Triton 3.6, 3.7 and 3.8.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch


@dataclass
class CheckedMemory:
    """What the kernel that runs may touch, and what it touched besides.

    Attributes:
        ranges: First byte and the one after the last, of the storages of its tensors.
        beside: Elements it read and wrote beside them.
    """

    ranges: list[tuple[int, int]] = field(default_factory=list)
    beside: dict[str, int] = field(default_factory=dict)

    def begin(self, arguments: tuple[Any, ...]) -> None:
        """A kernel starts with these arguments."""
        self.beside = {}
        storages = [a.untyped_storage() for a in arguments if isinstance(a, torch.Tensor)]
        self.ranges = [(one.data_ptr(), one.data_ptr() + one.nbytes()) for one in storages]

    def watch(self, builder: Any) -> None:
        """Checks what an interpreter's builder loads and stores from now on."""
        load, store = builder.create_masked_load, builder.create_masked_store
        rmw, cas = builder.create_atomic_rmw, builder.create_atomic_cas

        def checked_load(pointers: Any, mask: Any, *rest: Any) -> Any:
            return load(pointers, self.inside(pointers, mask, "read"), *rest)

        def checked_store(pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            return store(pointers, value, self.inside(pointers, mask, "write"), *rest)

        def checked_rmw(operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            mask = self.inside(pointers, mask, "write")
            return rmw(operation, *map(_contiguous, (pointers, value, mask)), *rest)

        def checked_cas(pointers: Any, *rest: Any) -> Any:
            everywhere = type(pointers)(np.ones_like(pointers.data, dtype=bool), pointers.dtype)
            if not self.inside(pointers, everywhere, "write").data.all():
                raise MemoryError("an atomic compare-and-swap beside the kernel's tensors")
            return cas(pointers, *rest)

        builder.create_masked_load, builder.create_masked_store = checked_load, checked_store
        builder.create_atomic_rmw, builder.create_atomic_cas = checked_rmw, checked_cas

    def inside(self, pointers: Any, mask: Any, what: str) -> Any:
        """The mask without the elements that lie beside all tensors, which are counted."""
        size = np.dtype(_bytes_of(pointers)).itemsize
        first = pointers.data.astype(np.uint64)
        fits = np.zeros(first.shape, dtype=bool)
        for begin, end in self.ranges:
            fits |= (first >= np.uint64(begin)) & (first + np.uint64(size) <= np.uint64(end))
        wanted = mask.data.astype(bool)
        outside = int((wanted & ~fits).sum())
        if not outside:
            return mask
        self.beside[what] = self.beside.get(what, 0) + outside
        return type(mask)(wanted & fits, mask.dtype)


def _contiguous(handle: Any) -> Any:
    """The interpreter's atomics read one element after the other, as Triton 3.8 is written.

    An array that is broadcast along its last dimension has one element there.
    """
    return type(handle)(np.ascontiguousarray(handle.data), handle.dtype)


def _bytes_of(pointers: Any) -> Any:
    from triton.runtime.interpreter import _get_np_dtype

    return _get_np_dtype(pointers.get_element_ty())
