"""A weight that is frozen first and trained later."""

import torch


def fn(x, w):
    return torch.nn.functional.silu(x @ w)


def before_call(i, target):
    WEIGHT.requires_grad_(i >= 1)


WEIGHT = torch.eye(3)


def make():
    return fn, [(torch.ones(2, 3), WEIGHT), (torch.ones(2, 3), WEIGHT)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "grad-mode recompiles",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "frozen_then_trained.py:6",
            "guard": "tensor 'w' requires_grad mismatch. expected requires_grad=0",
            "cause": "requires_grad",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "requires_grad of w changes between the calls.",
    "cause": {},
}
