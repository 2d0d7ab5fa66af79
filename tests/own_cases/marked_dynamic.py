"""One dimension is marked dynamic, another changes unmarked."""

import torch


def fn(x):
    return x.cumsum(1).mean(0)


def make():
    calls = [(torch.ones(rows, columns),) for rows, columns in ((2, 3), (5, 3), (7, 4))]
    for (x,) in calls:
        torch._dynamo.mark_dynamic(x, 0)
    return fn, calls


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "dynamic shapes",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 2,
            "function": "fn",
            "at": "marked_dynamic.py:6",
            "guard": "tensor 'x' size mismatch at index 1. expected 3, actual 4",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "Dimension 0 is marked and costs nothing; dimension 1 changes in the third call.",
    "cause": {},
}
