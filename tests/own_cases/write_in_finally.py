"""A finally block writes to stdout."""

import sys

import torch


def fn(x):
    y = x
    try:
        y = x.exp().log1p()
    finally:
        sys.stdout.write("done\n")
    return y * 2


def make():
    return fn, [(torch.zeros(3),), (torch.zeros(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "try/except",
    "graphs": 2,
    "ops_per_graph": [2, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 13,
            "kind": "unsupported_method_call",
            "torch_reason": "Unsupported method call",
            "torch_points_to": "write_in_finally.py:13",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "Writing to stdout is what cannot be traced; torch can resume inside the finally block.",
    "cause": {13: "untraceable_builtin"},
}
