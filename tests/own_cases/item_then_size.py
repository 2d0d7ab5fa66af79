"""A count from a tensor becomes a size."""

import torch


def fn(x, count):
    n = count.item()
    pad = torch.zeros(n)
    return torch.cat([x, pad]).flip(0)


def make():
    x = torch.ones(2)
    return fn, [(x, torch.tensor(n)) for n in (2, 3, 4)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "item()/tolist()",
    "graphs": 2,
    "ops_per_graph": [3, 3],
    "break_count": 1,
    "breaks": [
        {
            "line": 7,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "item_then_size.py:7",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_7",
            "at": "item_then_size.py:7",
            "guard": "___stack0 == 2",
            "cause": "value_at_graph_break",
            "line": 8,
            "reasons_listed": 1,
        }
    ],
    "notes": "count.item() becomes a size; capture_scalar_outputs keeps it in the graph.",
    "cause": {7: "tensor_to_python_number"},
}
