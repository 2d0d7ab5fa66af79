"""Counting classes with unique inside a helper."""

import torch


def weights(labels):
    classes, counts = torch.unique(labels, return_counts=True)
    return classes, counts.reciprocal()


def fn(x, labels):
    _, weight = weights(labels)
    return (x * weight.sum()).relu()


def make():
    return fn, [(torch.ones(3), torch.tensor([0, 1, 1]))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent output shape",
    "graphs": 2,
    "ops_per_graph": [1, 3],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "data_dependent_output_shape",
            "torch_reason": "Dynamic shape operator",
            "torch_points_to": "unique_classes.py:7",
            "function_skipped": False,
            "times": 2,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "unique in the helper is the cause; torch.bincount with minlength has a fixed size.",
    "cause": {7: "data_dependent_output_shape"},
}
