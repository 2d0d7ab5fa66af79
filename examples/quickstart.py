"""The three ways to compile with GraphLens: a function, a decorated function, a module.

    python examples/quickstart.py

Each graph is printed as a table while it is compiled; the report at the end sums them up.
"""

import torch
from torch import nn

import graphlens


def scaled_sum(x, y):
    return (x + y).mean() * 2


@torch.compile(backend="graphlens")
def gelu_by_hand(x):
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(16, 32)
        self.output = nn.Linear(32, 4)

    def forward(self, x):
        return self.output(gelu_by_hand(self.hidden(x))).softmax(dim=-1)


def main():
    torch.manual_seed(0)
    x = torch.randn(8, 16)

    torch.compile(scaled_sum, backend="graphlens")(x, x)  # a function
    gelu_by_hand(x)  # a decorated function
    torch.compile(Classifier(), backend="graphlens")(x).sum().backward()  # a module, in training

    print(graphlens.report())


if __name__ == "__main__":
    main()
