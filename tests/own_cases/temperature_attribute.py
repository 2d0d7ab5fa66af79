"""A float attribute of the module follows a schedule."""

import torch


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, x):
        return (x / self.temperature).softmax(-1)


def before_call(i, target):
    target.temperature = (1.0, 0.5, 0.25, 0.125)[i]


def make():
    return Head(), [(torch.arange(3.0),)] * 4


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "module attribute mutation",
    "graphs": 2,
    "ops_per_graph": [2, 3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "forward",
            "at": "temperature_attribute.py:11",
            "guard": "self.temperature == 1.0",
            "cause": "attribute_value",
            "line": 12,
            "reasons_listed": 1,
        }
    ],
    "notes": "The attribute temperature of the module; a buffer keeps one program.",
    "cause": {},
}
