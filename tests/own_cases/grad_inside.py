"""torch.autograd.grad called in the compiled function."""

import torch


def fn(x):
    y = x.requires_grad_(True).pow(3).sum()
    (slope,) = torch.autograd.grad(y, x)
    return slope + 1


def make():
    return fn, [(torch.arange(3.0),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "autograd inside",
    "graphs": 2,
    "ops_per_graph": [2, 1],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "unsupported_tensor_requires_grad_call",
            "torch_reason": "Unsupported Tensor.requires_grad_() call",
            "torch_points_to": "grad_inside.py:7",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 8,
            "kind": "using_torch_autograd_grad_with_torch_dynamo_config",
            "torch_reason": "using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`",
            "torch_points_to": "grad_inside.py:8",
            "function_skipped": False,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "autograd.grad is not traced as it stands; torch.func.grad is.",
    "cause": {7: "mutation", 8: "autograd_inside"},
}
