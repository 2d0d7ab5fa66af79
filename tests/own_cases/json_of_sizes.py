"""Sizes are written as JSON while the model runs."""

import json

import torch

LOG = []


def fn(x):
    y = x.cumsum(0)
    LOG.append(json.dumps({"rows": x.shape[0]}))
    return y - y.mean()


def make():
    LOG.clear()
    return fn, [(torch.ones(4),), (torch.ones(4),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "unsupported builtins",
    "graphs": 4,
    "ops_per_graph": [1, 2, 1, 2],
    "break_count": 2,
    "breaks": [
        {
            "line": 12,
            "kind": "unsupported_method_call",
            "torch_reason": "Unsupported method call",
            "torch_points_to": "torch/_dynamo/polyfills/__init__.py:505",
            "function_skipped": False,
            "times": 2,
        }
    ],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "json_of_sizes.py:10",
            "guard": "not G['LOG']",
            "cause": "other",
            "line": 12,
            "reasons_listed": 1,
        },
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_12",
            "at": "json_of_sizes.py:12",
            "guard": "Cache line invalidated because L['___stack0'] got deallocated",
            "cause": "value_at_graph_break",
            "line": None,
            "reasons_listed": 1,
        },
    ],
    "notes": "json.dumps is traced into the json package until something in it cannot be traced; the user's line is the append.",
    "cause": {12: "untraceable_library"},
    "versions": {
        "2.11": {
            "graphs": 3,
            "ops_per_graph": [1, 2, 1],
            "break_count": 4,
            "breaks": [
                {
                    "line": 12,
                    "kind": "untraceable_builtin",
                    "torch_reason": "Attempted to call function marked as skipped",
                    "torch_points_to": "torch/_dynamo/polyfills/__init__.py:405",
                    "function_skipped": False,
                    "times": 2,
                },
                {
                    "line": 12,
                    "kind": "untraceable_builtin",
                    "torch_reason": "Attempted to call function marked as skipped",
                    "torch_points_to": "json_of_sizes.py:12",
                    "function_skipped": False,
                    "times": 2,
                },
            ],
        }
    },
}
