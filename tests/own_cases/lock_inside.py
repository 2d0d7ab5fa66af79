"""A lock around a counter."""

import threading

import torch

LOCK = threading.Lock()
COUNTS = {"calls": 0}


def fn(x):
    y = x.sin()
    with LOCK:
        COUNTS["calls"] += 1
    return y.cos()


def make():
    COUNTS["calls"] = 0
    return fn, [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "context managers",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 13,
            "kind": "unsupported_context_manager",
            "torch_reason": "Unsupported context manager",
            "torch_points_to": "lock_inside.py:13",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "A lock is a context manager that torch cannot resume in; count outside the compiled function.",
    "cause": {13: "context_manager"},
}
