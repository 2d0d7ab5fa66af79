"""An expanded, a sliced and a plain tensor of one shape."""

import torch


def fn(x):
    return x.view(x.shape) * 2 + x.sum(1, keepdim=True)


def make():
    base = torch.arange(12.0)
    return fn, [(base.reshape(3, 4),), (base[:3, None].expand(3, 4),), (base.reshape(4, 3).t(),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "strides and memory format",
    "graphs": 3,
    "ops_per_graph": [4, 4, 4],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "expanded_strides.py:6",
            "guard": "tensor 'x' stride mismatch at index 0. expected 4, actual 1",
            "cause": "tensor_stride",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "expanded_strides.py:6",
            "guard": "tensor 'x' stride mismatch at index 1. expected 0, actual 3",
            "cause": "tensor_stride",
            "line": None,
            "reasons_listed": 2,
        },
    ],
    "notes": "Only the strides of x differ; contiguous() at the caller makes one program.",
    "cause": {},
}
