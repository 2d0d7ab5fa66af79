"""Faults in programs of tens and hundreds of operators."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from faults.forward import normal
from faults.passes import Fault, constant, dropped, swapped

aten = torch.ops.aten


def many_layers(x, w):
    """507 operators."""
    for _ in range(21):
        x = _layer(x, w)
    x = x * 2.0
    x = x - w  # here
    x = x * 0.5
    for _ in range(21):
        x = _layer(x, w)
    return x


def _layer(x, w):
    a = x @ w
    for _ in range(4):
        a = a.sin()
        a = a * 0.5
    b = a.tanh()
    c = b.neg()
    return x + c


class Block(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.before, self.after = nn.LayerNorm(16), nn.LayerNorm(16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).view(2, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / 8**0.5
        mask = torch.ones(6, 6, dtype=torch.bool).triu(1)
        if self.number == 1:
            scores = scores.masked_fill(mask, -1e9)  # here
        else:
            scores = scores.masked_fill(mask, -1e9)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(2, 6, 16)
        x = x + self.out(mixed)
        return x + self.down(functional.gelu(self.up(self.after(x))))


def transformer():
    """60 operators."""
    torch.manual_seed(0)
    return nn.Sequential(*(Block(number) for number in range(2)))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(8, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return (x + self.norm(self.convolution(x))).relu()


def convolutions():
    """17 operators, with buffers that the forward pass writes."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), *(Residual() for _ in range(3)))


def _checkpointed(x, w):
    a = x @ w
    b = a * 3.0  # here
    return b.sin()


def checkpoints(x, w):
    """Bodies of their own, of which the second is wrong."""
    x = checkpoint(lambda x, w: (x @ w).cos(), x, w, use_reentrant=False)
    return checkpoint(_checkpointed, x, w, use_reentrant=False) + 1


LARGE = [
    Fault(
        "wrong_constant_in_a_checkpoint",
        checkpoints,
        normal((8, 8), (8, 8), grad=True),
        constant(aten.mul.Tensor, 3.0, 2.0),
    ),
    Fault(
        "swapped_in_500_operators",
        many_layers,
        normal((16, 16), (16, 16)),
        swapped(aten.sub.Tensor),
    ),
    Fault(
        "missing_mask_in_a_transformer",
        transformer().requires_grad_(False),
        normal((2, 6, 16)),
        dropped(aten.where.self, 2),
    ),
    Fault(
        "wrong_gradient_in_a_transformer",
        transformer(),
        normal((2, 6, 16)),
        constant(aten.mul.Tensor, 16, 15),
        part="backward",
        module="0.after",
    ),
    Fault(
        "wrong_epsilon_in_a_batch_norm",
        convolutions(),
        normal((2, 3, 8, 8)),
        constant(aten.add.Tensor, 1e-5, 1e-2),
        module="3.norm",
    ),
    Fault(
        "wrong_count_in_the_gradient_of_a_second_batch_norm",
        convolutions(),
        normal((2, 3, 8, 8)),
        constant(aten.mul.Tensor, 1 / 72, 1 / 36),
        part="backward",
        module="2.norm",
    ),
]
