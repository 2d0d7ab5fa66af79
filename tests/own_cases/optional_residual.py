"""An optional argument that is None in some calls."""

import torch


def fn(x, residual=None):
    y = x.relu()
    if residual is not None:
        y = y + residual
    return y


def make():
    x = torch.ones(3)
    return fn, [(x,), (x, x * 2), (x,), (x, x * 3)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "none_or_value recompiles",
    "graphs": 2,
    "ops_per_graph": [1, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "optional_residual.py:6",
            "guard": "residual is None",
            "cause": "none_or_value",
            "line": 8,
            "reasons_listed": 1,
        }
    ],
    "notes": "residual is None or a tensor: two programs, one recompile, and no more however often it changes.",
    "cause": {},
}
