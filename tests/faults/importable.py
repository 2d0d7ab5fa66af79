"""A pass that a script can import, as it needs no arguments."""

import torch

from faults.passes import Injected, swapped


class SwappedSubtraction(Injected):
    """Swaps every subtraction, wherever it is."""

    def __init__(self) -> None:
        super().__init__("importable", swapped(torch.ops.aten.sub.Tensor), lambda _: True)
