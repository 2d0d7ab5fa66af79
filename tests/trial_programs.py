"""Programs on which advice is tried."""

# ruff: noqa: PERF401

from typing import Any

import torch

from trial_helpers import part


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


def twice(x: Any) -> Any:
    x = x * 2
    print("again")
    y = x.sum().item()
    z = x - 1
    print("again")
    return z * y


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


STEP = 0


class Meter:
    def __init__(self) -> None:
        self.total = 0
        self.seen: list[int] = []
        self.last: torch.Tensor | None = None


class Lazy:
    def __init__(self) -> None:
        self.scale: float | None = None

    def __call__(self, x: Any) -> Any:
        if self.scale is None:
            top = x.abs().max().item()
            self.scale = 3.0 if top > 3 else 1.0
        return x * self.scale


def metered(x: Any, meter: Meter, history: dict[str, list[int]]) -> Any:
    global STEP
    STEP += 1
    meter.total += 1
    meter.seen.append(meter.total)
    meter.last = x
    history["steps"].append(STEP)
    print("step")
    return x + meter.total


def neighbours(x: Any) -> Any:
    x = x + 1
    print("one")
    print("two")
    print("three")
    return x


def rows(x: torch.Tensor) -> torch.Tensor:
    out = []
    for row in x:
        out.append(row * 2 + 1)
    return torch.stack(out)


def stepped(model: Any, optimizer: Any, x: Any) -> Any:
    loss = model(x).sum()
    print("loss")
    loss.backward()
    optimizer.step()
    return loss


def of_two_files(x: torch.Tensor) -> Any:
    x = x + 1
    print("in whole")
    return part(x) * 3
