"""Torch's number of threads is changed between calls."""

import torch


def fn(x):
    return x.cumsum(0).exp()


def before_call(i, target):
    torch.set_num_threads(1 + i % 2)


def make():
    return fn, [(torch.zeros(3),), (torch.zeros(3),), (torch.zeros(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "grad-mode recompiles",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "thread_count_changes.py:6",
            "guard": "GLOBAL_STATE changed: num_threads",
            "cause": "global_state",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "A process-wide setting is guarded: the number of threads, which nothing in the function mentions.",
    "cause": {},
}
