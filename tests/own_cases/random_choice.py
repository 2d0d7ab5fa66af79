"""Python's random picks a layer."""

import random

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))

    def forward(self, x):
        layer = random.choice(self.layers)
        return layer(x) * random.random()


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),), (torch.ones(1, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "random numbers",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 2,
    "breaks": [
        {
            "line": 14,
            "kind": "skipped_function",
            "torch_reason": "Attempted to call function marked as skipped",
            "torch_points_to": "random_choice.py:14",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 15,
            "kind": "untraceable_builtin",
            "torch_reason": "Attempted to call function marked as skipped",
            "torch_points_to": "random_choice.py:15",
            "function_skipped": False,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "random.choice picks which code runs, random.random is a value that torch can hand in.",
    "cause": {14: "skipped_function", 15: "untraceable_builtin"},
    "versions": {
        "2.14": {
            "graphs": 1,
            "ops_per_graph": [2],
            "break_count": 1,
            "breaks": [
                {
                    "line": 14,
                    "kind": "skipped_function",
                    "torch_reason": "Attempted to call function marked as skipped",
                    "torch_points_to": "random_choice.py:14",
                    "function_skipped": False,
                    "times": 1,
                }
            ],
            "cause": {14: "skipped_function"},
        }
    },
}
