"""A leftover print two calls below the compiled function."""

import torch


def shown(name, value):
    print(name, tuple(value.shape))
    return value


def scaled(x, factor):
    return shown("scaled", x * factor) + 1


def fn(x):
    return scaled(x.sin(), 2.0).cos()


def make():
    return fn, [(torch.arange(4.0),), (torch.arange(4.0),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "printing/logging",
    "graphs": 4,
    "ops_per_graph": [1, 1, 1, 1],
    "break_count": 3,
    "breaks": [
        {
            "line": 7,
            "kind": "print_call",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "inlined_print.py:7",
            "function_skipped": False,
            "times": 3,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The print is met in each function that inlines it; the line to name is the print, with the two calls that lead there.",
    "cause": {7: "print_call"},
}
