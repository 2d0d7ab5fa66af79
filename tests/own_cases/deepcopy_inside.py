"""A state dict is deep-copied inside the compiled function."""

import copy

import torch


def fn(state):
    backup = copy.deepcopy(state)
    state["x"] = state["x"] + 1
    return backup["x"] * state["x"]


def make():
    return fn, [({"x": torch.ones(2)},), ({"x": torch.ones(2)},)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "unsupported builtins",
    "graphs": 1,
    "ops_per_graph": [2],
    "break_count": 1,
    "breaks": [
        {
            "line": 9,
            "kind": "attempted_to_copy_deepcopy_a_tensor",
            "torch_reason": "Attempted to copy.deepcopy a tensor",
            "torch_points_to": "stdlib/copy.py:153",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "copy.deepcopy of a tensor is not traced; clone() is.",
    "cause": {9: "untraceable_library"},
    "versions": {
        "2.11": {
            "breaks": [
                {
                    "line": 9,
                    "kind": "copy_deepcopy",
                    "torch_reason": "copy.deepcopy()",
                    "torch_points_to": "deepcopy_inside.py:9",
                    "function_skipped": False,
                    "times": 1,
                }
            ]
        }
    },
}
