"""Small programs that the tests compile."""

import torch


class Stack(torch.nn.Module):
    """Two linear layers and a batch norm: parameters, buffers, mutation."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(2)])
        self.norm = torch.nn.BatchNorm1d(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.nn.functional.relu(layer(x))
        return self.norm(x)


def branching(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a / (abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


BRANCH_LINE = branching.__code__.co_firstlineno + 2


def printing_loop(x: torch.Tensor) -> torch.Tensor:
    for turn in range(3):
        x = x * 0.9
        print("turn", turn)
    return x


PRINT_LINE = printing_loop.__code__.co_firstlineno + 3


def scaled(x: torch.Tensor, factor: int) -> torch.Tensor:
    return x * factor


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x.cos()).sin()


def many_forms(x: torch.Tensor) -> list[torch.Tensor]:
    """Operators that FX prints each in its own way."""
    y = x.clone()
    y[0] = 5
    y[1:] = x[1:] * 2
    y += 1
    left, right = x.split(1)
    chosen = torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,))
    padded = torch.nn.functional.pad(x, (1, 1))
    return [
        y, left @ right.T, chosen, padded, abs(x), -x, ~(x > 0), x**2, 2 - x, x // 2, x % 2, x.mT,
        torch.einsum("ij,jk->ik", x, x), x.topk(2).values, x.clamp(min=-float("inf")),
        x.to("cpu", non_blocking=True), torch.full_like(x, 3.0, memory_format=torch.preserve_format),
        torch.vmap(lambda v: v.sin().sum())(x),
    ]  # fmt: skip
