"""An environment variable chooses the precision."""

import os

import torch


def fn(x):
    if os.environ["TOY_PRECISION"] == "low":
        return (x.bfloat16() * 2).float()
    return x * 2


def before_call(i, target):
    os.environ["TOY_PRECISION"] = ("high", "low", "high")[i]


def make():
    return fn, [(torch.ones(2),), (torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "unsupported builtins",
    "graphs": 2,
    "ops_per_graph": [1, 3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "environ_precision.py:8",
            "guard": "G['os'].environ._data[b'TOY_PRECISION'] == b'high'",
            "cause": "global_value",
            "line": 9,
            "reasons_listed": 1,
        }
    ],
    "notes": "The variable TOY_PRECISION is guarded by its value; torch names a dict inside os.",
    "cause": {},
}
