"""A run is named by uuid, from a file of the standard library."""

import uuid

import torch

NAMES = []


def fn(x):
    NAMES.append(str(uuid.uuid4()))
    return x.square().sum()


def make():
    NAMES.clear()
    return fn, [(torch.ones(3),), (torch.ones(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "skipped frames",
    "graphs": 1,
    "ops_per_graph": [2],
    "break_count": 3,
    "breaks": [
        {
            "line": 11,
            "kind": "untraceable_builtin",
            "torch_reason": "Attempted to call function marked as skipped",
            "torch_points_to": "stdlib/uuid.py:723",
            "function_skipped": False,
            "times": 2,
        },
        {
            "line": 11,
            "kind": "user_exception",
            "torch_reason": "Observed exception",
            "torch_points_to": "stdlib/uuid.py:281",
            "function_skipped": True,
            "times": 1,
        },
    ],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "uuid_inside.py:10",
            "guard": "not G['NAMES']",
            "cause": "other",
            "line": 11,
            "reasons_listed": 1,
        },
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_11",
            "at": "uuid_inside.py:11",
            "guard": "Cache line invalidated because L['___stack0'] got deallocated",
            "cause": "value_at_graph_break",
            "line": None,
            "reasons_listed": 1,
        },
    ],
    "notes": "uuid4 reads the system's random source; the line that asks for the name is the one to move out. Its frames in uuid.py break too, which is not the user's concern.",
    "cause": {11: ["untraceable_builtin", "user_exception"]},
    "versions": {
        "2.11": {
            "break_count": 5,
            "breaks": [
                {
                    "line": 11,
                    "kind": "untraceable_builtin",
                    "torch_reason": "Attempted to call function marked as skipped",
                    "torch_points_to": "stdlib/uuid.py:723",
                    "function_skipped": False,
                    "times": 2,
                },
                {
                    "line": 11,
                    "kind": "untraceable_builtin",
                    "torch_reason": "Attempted to call function marked as skipped",
                    "torch_points_to": "uuid_inside.py:11",
                    "function_skipped": False,
                    "times": 2,
                },
                {
                    "line": 11,
                    "kind": "torch_op_returned_non_tensor",
                    "torch_reason": "torch.* op returned non-Tensor",
                    "torch_points_to": "stdlib/uuid.py:281",
                    "function_skipped": False,
                    "times": 1,
                },
            ],
        }
    },
}
