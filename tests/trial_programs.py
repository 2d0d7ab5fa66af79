"""Programs on which advice is tried."""

from typing import Any

import torch


def chatty(x: Any) -> Any:
    for _ in range(3):
        x = x * 0.5
        print("turn")
    return x


def guarded(x: Any) -> Any:
    try:
        return x * 2 if x.sum().item() > 0 else x
    except ValueError:
        return x


def scaled(x: Any) -> Any:
    top = x.abs().max().item()
    return x / (top + 1)


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(Talking(), Talking())
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return self.inner(x) + 1


class Talking(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Any) -> Any:
        y = x * self.weight
        print("between", tuple(y.shape))
        return y - 1
