"""masked_select in a loss."""

import torch


def fn(prediction, target):
    error = (prediction - target).abs()
    chosen = torch.masked_select(error, target > 0)
    return chosen.mean()


def make():
    return fn, [(torch.ones(4), torch.tensor([1.0, 0.0, 2.0, 0.0]))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent output shape",
    "graphs": 2,
    "ops_per_graph": [3, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 8,
            "kind": "data_dependent_output_shape",
            "torch_reason": "Dynamic shape operator",
            "torch_points_to": "masked_select_mean.py:8",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "masked_select has a size that depends on values; (error * mask).sum() / mask.sum() does not.",
    "cause": {8: "data_dependent_output_shape"},
}
