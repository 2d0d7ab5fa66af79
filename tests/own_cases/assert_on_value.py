"""An assert about values, with a message made from them."""

import torch


def fn(x):
    y = x.log()
    assert not torch.isnan(y).any(), f"bad rows: {y}"
    return y * 2


def make():
    return fn, [(torch.ones(3),), (torch.ones(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent control flow",
    "graphs": 2,
    "ops_per_graph": [3, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 8,
            "kind": "data_dependent_branch",
            "torch_reason": "Data-dependent branching",
            "torch_points_to": "assert_on_value.py:8",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The assert is on a value; a message that formats the tensor can keep torch from putting the check into the graph.",
    "cause": {8: "data_dependent_branch"},
}
