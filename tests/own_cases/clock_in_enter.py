"""A timer whose __enter__ reads the clock, made in the function that uses it."""

import time

import torch


class Timer:
    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began


def fn(x):
    with Timer() as timer:
        y = x @ x
    return y.relu(), timer.seconds >= 0


def make():
    return fn, [(torch.eye(3),), (torch.eye(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "context managers",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 10,
            "kind": "untraceable_builtin",
            "torch_reason": "Attempted to call function marked as skipped",
            "torch_points_to": "clock_in_enter.py:10",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The clock in __enter__ is the cause; that it stands in a with block makes the whole function run eager. Measure outside of the compiled function.",
    "cause": {10: "untraceable_builtin"},
}
