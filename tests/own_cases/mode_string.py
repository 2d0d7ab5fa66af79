"""A string argument picks the reduction."""

import torch


def fn(x, reduction):
    error = (x - 1).square()
    if reduction == "none":
        return error
    return error.sum() if reduction == "sum" else error.mean()


def make():
    x = torch.arange(3.0)
    return fn, [(x, "mean"), (x, "sum"), (x, "none"), (x, "mean")]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "int/float argument recompiles",
    "graphs": 3,
    "ops_per_graph": [3, 3, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "mode_string.py:6",
            "guard": "reduction == 'mean'",
            "cause": "string_value",
            "line": 8,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "mode_string.py:6",
            "guard": "reduction == 'sum'",
            "cause": "string_value",
            "line": 8,
            "reasons_listed": 2,
        },
    ],
    "notes": "reduction is compared by value: one program for each string.",
    "cause": {},
}
