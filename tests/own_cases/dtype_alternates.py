"""The same function gets float32, float64 and bfloat16."""

import torch


def fn(x):
    return x.softmax(0) * 2


def make():
    return fn, [
        (torch.ones(3, dtype=dtype),) for dtype in (torch.float32, torch.float64, torch.bfloat16)
    ]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "mixed dtype",
    "graphs": 3,
    "ops_per_graph": [2, 2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "dtype_alternates.py:6",
            "guard": "tensor 'x' dtype mismatch. expected Float, actual Double",
            "cause": "tensor_dtype",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "dtype_alternates.py:6",
            "guard": "tensor 'x' dtype mismatch. expected Double, actual BFloat16",
            "cause": "tensor_dtype",
            "line": None,
            "reasons_listed": 2,
        },
    ],
    "notes": "The dtype of x; each is a program of its own.",
    "cause": {},
}
