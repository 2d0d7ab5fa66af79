"""A branch on a value, in a helper that a comprehension calls for each row."""

import torch


def clip(row):
    if row.sum() > 1:
        return row / row.sum()
    return row


def fn(x):
    return x + torch.stack([clip(row) for row in x])


def make():
    return fn, [(torch.eye(2),), (torch.ones(2, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent control flow",
    "graphs": 4,
    "ops_per_graph": [2, 2, 2, 2],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "data_dependent_branch",
            "torch_reason": "Data-dependent branching",
            "torch_points_to": "branch_in_comprehension.py:7",
            "function_skipped": False,
            "times": 2,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The branch in clip, called from a comprehension; torch.where removes it.",
    "cause": {7: "data_dependent_branch"},
}
