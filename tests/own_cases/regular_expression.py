"""A compiled pattern goes through the names of layers inside forward."""

import re

import torch

DIGITS = re.compile(r"\d+")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = torch.nn.Linear(2, 2)
        self.layer2 = torch.nn.Linear(2, 2)

    def forward(self, x):
        seen = set()
        for name, child in self.named_children():
            seen.update(match.group() for match in DIGITS.finditer(name))
            x = child(x)
        return x * len(seen)


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "unsupported builtins",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 19,
            "kind": "constant_like_method_call_with_unsupported_return_",
            "torch_reason": "constant-like method call with unsupported return type",
            "torch_points_to": "regular_expression.py:19",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The pattern's finditer gives an iterator that torch cannot go through; sub and findall are traced. Gather the names once, in __init__.",
    "cause": {19: "untraceable_builtin"},
}
