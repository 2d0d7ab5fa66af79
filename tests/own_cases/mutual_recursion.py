"""Two functions call each other until a depth is reached."""

import torch


def even(x, depth):
    return x if depth == 0 else odd(x + 1, depth - 1)


def odd(x, depth):
    return x if depth == 0 else even(x * 2, depth - 1)


def fn(x, depth):
    return even(x, depth).sum()


COMPILE = {"dynamic": False}


def make():
    return fn, [(torch.ones(2), 3), (torch.ones(2), 4)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "recursion",
    "graphs": 2,
    "ops_per_graph": [4, 5],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "mutual_recursion.py:14",
            "guard": "depth == 3",
            "cause": "int_value",
            "line": 7,
            "reasons_listed": 1,
        }
    ],
    "notes": "depth is unrolled, so each depth is a program of its own.",
    "cause": {},
}
