"""One line that breaks for two reasons."""

import torch


def fn(x):
    y = x.sin()
    print(y.sum().item())
    return y * 2


def make():
    return fn, [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "printing/logging",
    "graphs": 2,
    "ops_per_graph": [2, 1],
    "break_count": 2,
    "breaks": [
        {
            "line": 8,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "two_causes_one_line.py:8",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 8,
            "kind": "print_call",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "two_causes_one_line.py:8",
            "function_skipped": False,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "item() and print stand in one line and are two breaks; moving the print alone leaves the other.",
    "cause": {8: ["tensor_to_python_number", "print_call"]},
}
