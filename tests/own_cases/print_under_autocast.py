"""A print inside an autocast block."""

import torch


def fn(x, w):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ w
        print(y.dtype)
        y = y @ w
    return y.float()


def make():
    return fn, [(torch.eye(4), torch.eye(4))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "autocast",
    "graphs": 2,
    "ops_per_graph": [3, 4],
    "break_count": 1,
    "breaks": [
        {
            "line": 9,
            "kind": "print_call",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "print_under_autocast.py:9",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The print splits the autocast block in two; torch enters the mode again in the resumed function.",
    "cause": {9: "print_call"},
}
