"""dynamic=True with sizes that differ, among them 1."""

import torch

COMPILE = {"dynamic": True}


def fn(x):
    return x.reshape(-1, 2).sum(0) * x.shape[0]


def make():
    return fn, [(torch.ones(4, 2),), (torch.ones(6, 2),), (torch.ones(1, 2),), (torch.ones(3, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "dynamic shapes",
    "graphs": 2,
    "ops_per_graph": [3, 3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 2,
            "function": "fn",
            "at": "dynamic_from_the_start.py:8",
            "guard": "2 <= x.size()[0]",
            "cause": "tensor_size",
            "line": 9,
            "reasons_listed": 1,
        }
    ],
    "notes": "Sizes 4, 6 and 3 share one program; 1 is always a program of its own.",
    "cause": {},
}
