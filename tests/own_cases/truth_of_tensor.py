"""A tensor used as a condition, with and without a comparison."""

import torch


def fn(x, mask):
    if mask.any():
        x = x + 1
    y = x.cos()
    return y if y.sum() else -y


def make():
    return fn, [(torch.ones(2), torch.tensor([True, False]))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent control flow",
    "graphs": 2,
    "ops_per_graph": [1, 3],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "data_dependent_branch",
            "torch_reason": "Data-dependent branching",
            "torch_points_to": "truth_of_tensor.py:7",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 10,
            "kind": "data_dependent_branch",
            "torch_reason": "Data-dependent branching",
            "torch_points_to": "truth_of_tensor.py:10",
            "function_skipped": False,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "Two branches on values, two lines; torch.where keeps both in the graph.",
    "cause": {7: "data_dependent_branch", 10: "data_dependent_branch"},
}
