"""A batch dimension comes and goes."""

import torch


def fn(x, w):
    return (x.unsqueeze(-2) @ w).squeeze(-2).sigmoid()


def make():
    w = torch.ones(3, 2)
    return fn, [
        (torch.ones(3), w),
        (torch.ones(2, 3), w),
        (torch.ones(2, 2, 3), w),
        (torch.ones(3), w),
    ]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "dynamic shapes",
    "graphs": 3,
    "ops_per_graph": [4, 4, 4],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "rank_grows.py:6",
            "guard": "tensor 'x' rank mismatch. expected 1, actual 2",
            "cause": "tensor_rank",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "rank_grows.py:6",
            "guard": "tensor 'x' rank mismatch. expected 2, actual 3",
            "cause": "tensor_rank",
            "line": None,
            "reasons_listed": 2,
        },
    ],
    "notes": "The rank of x; the batched callers can add dimensions so that it is always the same.",
    "cause": {},
}
