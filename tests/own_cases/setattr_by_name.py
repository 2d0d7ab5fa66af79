"""Attributes of a module are read and set by computed names."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin_a = torch.nn.Linear(2, 2)
        self.lin_b = torch.nn.Linear(2, 2)
        self.last = None

    def forward(self, x, which):
        y = getattr(self, f"lin_{which}")(x)
        setattr(self, "la" + "st", which)
        return y


def make():
    torch.manual_seed(0)
    x = torch.ones(1, 2)
    return Net(), [(x, "a"), (x, "a"), (x, "b")]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "module attribute mutation",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 2,
            "function": "forward",
            "at": "setattr_by_name.py:13",
            "guard": "which == 'a'",
            "cause": "string_value",
            "line": 14,
            "reasons_listed": 1,
        }
    ],
    "notes": "The argument which changes; the attribute last is written and must not be blamed.",
    "cause": {},
}
