"""An operator of the program's own that has no fake version."""

import torch

LIBRARY = torch.library.Library("own_cases", "DEF")
LIBRARY.define("halve(Tensor x) -> Tensor")
LIBRARY.impl("halve", lambda x: x / 2, "CPU")


def fn(x):
    return torch.ops.own_cases.halve(x.exp()).log()


def make():
    return fn, [(torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "custom operators",
    "graphs": 3,
    "ops_per_graph": [1, 1, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 11,
            "kind": "custom_op_without_fake",
            "torch_reason": "Operator does not support running with fake tensors",
            "torch_points_to": "custom_op_without_fake.py:11",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "own_cases.halve has no fake; torch.library.register_fake gives it one.",
    "cause": {11: "custom_op_without_fake"},
}
