"""SGD's step is called in the compiled function."""

import torch


class Fit:
    def __init__(self):
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.optimizer = torch.optim.SGD([self.weight], lr=0.1)

    def __call__(self, x):
        self.weight.grad = x * 2
        self.optimizer.step()
        return self.weight.sum()


def make():
    return Fit(), [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "optimizer in compile",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 3,
    "breaks": [
        {
            "line": 13,
            "kind": "explicit_graph_break",
            "torch_reason": "Call to `torch._dynamo.graph_break()`",
            "torch_points_to": "torch/optim/optimizer.py:79",
            "function_skipped": False,
            "times": 3,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "optimizer.step breaks because torch puts a break around it by itself.",
    "cause": {13: "break_by_torch"},
    "versions": {"2.11": {"ops_per_graph": [1, 2]}},
}
