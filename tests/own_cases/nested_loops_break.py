"""The inner of two loops sends a row to Python each time."""

import torch


def fn(x):
    rows = []
    for block in x.unbind():
        for row in block.unbind():
            first = row.tolist()[0]
            rows.append(row * 2 if first > 1.5 else row)
    return torch.stack(rows)


def make():
    return fn, [(torch.arange(8.0).reshape(2, 2, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "many graphs",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 10,
            "kind": "tensor_tolist_with_non_integer_tensor",
            "torch_reason": "Tensor.tolist() with non-integer tensor",
            "torch_points_to": "nested_loops_break.py:10",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "tolist() inside two loops makes torch give the whole function up: it cannot resume in a loop.",
    "cause": {10: "tensor_to_python_number"},
}
