"""torch.set_default_dtype between two calls."""

import torch


def fn(x):
    return x + torch.ones(3) * 0.5


def before_call(i, target):
    torch.set_default_dtype((torch.float32, torch.float64)[i])


def make():
    x = torch.arange(3, dtype=torch.float32)
    return fn, [(x,), (x,)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "mixed dtype",
    "graphs": 2,
    "ops_per_graph": [3, 3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "default_dtype_changes.py:6",
            "guard": "GLOBAL_STATE changed: default_dtype",
            "cause": "global_state",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "The default dtype is global state; the tensor made inside takes it.",
    "cause": {},
}
