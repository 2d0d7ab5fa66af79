"""A while loop whose bound is int() of a tensor."""

import torch


def fn(x, steps):
    left = int(steps)
    while left > 0:
        x = torch.tanh(x) * 1.1
        left -= 1
    return x


def make():
    return fn, [(torch.ones(3), torch.tensor(2)), (torch.ones(3), torch.tensor(3))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent control flow",
    "graphs": 2,
    "ops_per_graph": [4, 6],
    "break_count": 1,
    "breaks": [
        {
            "line": 7,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "while_with_int.py:7",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_7",
            "at": "while_with_int.py:7",
            "guard": "___stack0 == 2",
            "cause": "value_at_graph_break",
            "line": 8,
            "reasons_listed": 1,
        }
    ],
    "notes": "int(steps) gives a Python number that the next graph is specialised on, so each other count is compiled anew.",
    "cause": {7: "tensor_to_python_number"},
}
