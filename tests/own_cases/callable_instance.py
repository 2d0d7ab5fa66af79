"""An object with __call__ that counts its calls."""

import torch


class Step:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x + self.calls


def make():
    return Step(), [(torch.ones(2),), (torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "module attribute mutation",
    "graphs": 2,
    "ops_per_graph": [1, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "inner",
            "at": "torch/_dynamo/external_utils.py:67",
            "guard": "fn.calls == 0",
            "cause": "int_value",
            "line": 11,
            "reasons_listed": 1,
        }
    ],
    "notes": "calls changes with each call.",
    "cause": {},
}
