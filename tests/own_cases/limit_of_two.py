"""A low recompile limit, set while the program runs."""

import torch


def fn(x, power):
    return x**power + power


def call(f, args):
    with torch._dynamo.config.patch(recompile_limit=2):
        return f(*args)


COMPILE = {"dynamic": False}


def make():
    return fn, [(torch.ones(2), power) for power in (1, 2, 3, 4)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "recompile limit",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "limit_of_two.py:6",
            "guard": "power == 1",
            "cause": "int_value",
            "line": 7,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "limit_of_two.py:6",
            "guard": "power == 2",
            "cause": "int_value",
            "line": 7,
            "reasons_listed": 2,
        },
    ],
    "recompile_limit_hit": [{"call": 2, "function": "fn"}],
    "notes": "With dynamic=False each power is a program of its own; the third call reaches the limit and runs eager from then on.",
    "cause": {},
}
