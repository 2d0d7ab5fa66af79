"""Rows with a positive sum are taken by nonzero."""

import torch


def fn(x):
    keep = torch.nonzero(x.sum(1) > 0).squeeze(1)
    return x[keep] * 2


def make():
    return fn, [(torch.tensor([[1.0, 2.0], [-1.0, -2.0]]),), (torch.ones(2, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent output shape",
    "graphs": 3,
    "ops_per_graph": [2, 3, 3],
    "break_count": 1,
    "breaks": [
        {
            "line": 7,
            "kind": "data_dependent_output_shape",
            "torch_reason": "Dynamic shape operator",
            "torch_points_to": "nonzero_rows.py:7",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_7",
            "at": "nonzero_rows.py:7",
            "guard": "tensor '___stack0' size mismatch at index 0. expected 1, actual 2",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "The number of rows depends on values; capture_dynamic_output_shape_ops keeps it in the graph, or a mask multiplied in.",
    "cause": {7: "data_dependent_output_shape"},
}
