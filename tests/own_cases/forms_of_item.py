"""Every way to take a Python value out of a tensor, a line each."""

import torch


def fn(x):
    whole = int(x[0])
    part = float(x[1])
    flag = bool(x[2] > 0)
    both = x[:2].tolist()
    return x * whole + part if flag else x - both[0]


def make():
    return fn, [(torch.arange(3.0),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "item()/tolist()",
    "graphs": 5,
    "ops_per_graph": [1, 1, 2, 1, 2],
    "break_count": 4,
    "breaks": [
        {
            "line": 7,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "forms_of_item.py:7",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 8,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "forms_of_item.py:8",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 9,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "forms_of_item.py:9",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 10,
            "kind": "tensor_tolist_with_non_integer_tensor",
            "torch_reason": "Tensor.tolist() with non-integer tensor",
            "torch_points_to": "forms_of_item.py:10",
            "function_skipped": False,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "int, float, bool and tolist are all item(); each line is a cause of its own.",
    "cause": {
        7: "tensor_to_python_number",
        8: "tensor_to_python_number",
        9: "tensor_to_python_number",
        10: "tensor_to_python_number",
    },
}
