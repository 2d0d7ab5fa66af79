"""A timer of the program's own, made once for all, is used in a with block."""

import time

import torch


class Timer:
    seconds = 0.0

    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds += time.monotonic() - self.began


TIMER = Timer()


def fn(x):
    with TIMER:
        y = x @ x
    return y.relu()


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
            "line": 23,
            "kind": "unsupported_context_manager",
            "torch_reason": "Unsupported context manager",
            "torch_points_to": "timer_context.py:23",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The with block is over an object made outside, which torch does not enter; Timer() made in the function would be entered, up to the clock.",
    "cause": {23: "context_manager"},
    "versions": {
        "2.14": {
            "breaks": [
                {
                    "line": 12,
                    "kind": "untraceable_builtin",
                    "torch_reason": "Attempted to call function marked as skipped",
                    "torch_points_to": "timer_context.py:12",
                    "function_skipped": True,
                    "times": 1,
                }
            ],
            "cause": {12: "untraceable_builtin"},
        }
    },
}
