"""A scale factor is read from a file in each call."""

import os

import torch


def fn(x):
    with open(os.devnull) as file:
        text = file.read()
    return x * (len(text) + 1)


def make():
    return fn, [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "skipped frames",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 2,
    "breaks": [
        {
            "line": 9,
            "kind": "failed_to_trace_builtin_operator",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "file_read_inside.py:9",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 9,
            "kind": "unsupported_context_manager",
            "torch_reason": "Unsupported context manager",
            "torch_points_to": "file_read_inside.py:9",
            "function_skipped": True,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "open() cannot be traced, and the file it gives is no context manager that torch enters: the whole function runs eager.",
    "cause": {9: ["untraceable_builtin", "context_manager"]},
}
