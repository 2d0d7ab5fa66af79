"""A number is taken out of a tensor inside no_grad."""

import torch


def fn(x):
    y = x * 3
    with torch.no_grad():
        limit = y.abs().max().item()
    return y.clamp(max=limit / 2)


def make():
    return fn, [(torch.arange(4.0, requires_grad=True),), (torch.arange(5.0, requires_grad=True),)]


BACKWARD = True


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "grad-mode recompiles",
    "graphs": 4,
    "ops_per_graph": [5, 1, 5, 3],
    "break_count": 2,
    "breaks": [
        {
            "line": 9,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "item_under_no_grad.py:9",
            "function_skipped": False,
            "times": 2,
        }
    ],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "item_under_no_grad.py:6",
            "guard": "tensor 'x' size mismatch at index 0. expected 4, actual 5",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_9",
            "at": "item_under_no_grad.py:9",
            "guard": "tensor 'y' size mismatch at index 0. expected 4, actual 5",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        },
    ],
    "notes": "A break inside no_grad can be resumed, as the mode is known to torch; y.abs().max() as a tensor needs no break.",
    "cause": {9: "tensor_to_python_number"},
}
