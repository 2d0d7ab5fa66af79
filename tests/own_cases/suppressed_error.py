"""contextlib.suppress around a lookup that fails."""

import contextlib

import torch

TABLE = {"a": 1.0}


def fn(x, name):
    scale = 2.0
    with contextlib.suppress(KeyError):
        scale = TABLE[name]
    return x * scale


def make():
    return fn, [(torch.ones(2), "a"), (torch.ones(2), "b")]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "try/except",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "suppressed_error.py:10",
            "guard": "name == 'a'",
            "cause": "string_value",
            "line": 13,
            "reasons_listed": 1,
        }
    ],
    "notes": "suppress is traced; what is compiled anew is for another name.",
    "cause": {},
}
