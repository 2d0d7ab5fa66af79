"""A second file of a program on which advice is tried."""

from typing import Any

import torch


def part(x: torch.Tensor) -> Any:
    y = x * 2
    print("in part")
    return y + 1
