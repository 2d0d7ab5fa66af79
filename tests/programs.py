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
