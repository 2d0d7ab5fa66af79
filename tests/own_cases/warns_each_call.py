"""A deprecation warning on the way through forward."""

import warnings

import torch


def fn(x):
    y = x.reciprocal()
    warnings.warn("fn is old; use reciprocal", stacklevel=2)
    return y * 2


def make():
    return fn, [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "printing/logging",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 10,
            "kind": "warnings_call",
            "torch_reason": "Attempted to call function marked as skipped",
            "torch_points_to": "warns_each_call.py:10",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The warning is side effect only; torch._dynamo.config.reorderable_logging_functions takes it along.",
    "cause": {10: "warnings_call"},
}
