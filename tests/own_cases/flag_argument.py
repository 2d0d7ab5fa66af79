"""A bool that is positional once and by name once."""

import torch


def fn(x, causal=False):
    scores = x @ x.mT
    if causal:
        scores = scores.tril()
    return scores.softmax(-1)


def call(f, args):
    x, causal = args
    return f(x, causal=causal) if causal else f(x)


def make():
    x = torch.eye(3)
    return fn, [(x, False), (x, True), (x, False)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "int/float argument recompiles",
    "graphs": 2,
    "ops_per_graph": [3, 4],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "flag_argument.py:6",
            "guard": "causal == False",
            "cause": "bool_value",
            "line": 8,
            "reasons_listed": 1,
        }
    ],
    "notes": "causal is guarded by its value: two programs and no more.",
    "cause": {},
}
