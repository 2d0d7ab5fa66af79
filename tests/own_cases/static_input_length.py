"""A loop over a dimension is unrolled, so its length is fixed."""

import torch


def fn(x):
    state = torch.zeros(2)
    for row in x:
        state = state * 0.5 + row
    return state


def make():
    return fn, [(torch.ones(2, 2),), (torch.ones(3, 2),), (torch.ones(4, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "dynamic shapes",
    "graphs": 3,
    "ops_per_graph": [7, 10, 13],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "static_input_length.py:6",
            "guard": "tensor 'x' size mismatch at index 0. expected 2, actual 3",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "static_input_length.py:6",
            "guard": "tensor 'x' size mismatch at index 0. expected 3, actual 4",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 2,
        },
    ],
    "notes": "Iterating over x unrolls dimension 0: each length is a program of its own, also with dynamic sizes.",
    "cause": {},
}
