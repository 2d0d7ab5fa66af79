"""A list comprehension takes a Python number out of every row."""

import torch


def fn(x):
    sizes = [row.abs().max().item() for row in x]
    return x * max(sizes)


def make():
    return fn, [(torch.arange(6.0).reshape(3, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "item()/tolist()",
    "graphs": 2,
    "ops_per_graph": [3, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 7,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "comprehension_of_items.py:7",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The number is taken inside a comprehension; amax over the rows does the same without leaving the graph.",
    "cause": {7: "tensor_to_python_number"},
}
