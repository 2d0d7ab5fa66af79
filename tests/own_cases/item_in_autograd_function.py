"""The forward of an autograd.Function looks at a value."""

import torch


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.limit = x.abs().mean().item()
        return x.clamp(-ctx.limit, ctx.limit)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.limit


def fn(x):
    return Clip.apply(x * 2) + 1


BACKWARD = True


def make():
    return fn, [(torch.arange(4.0, requires_grad=True),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "custom autograd.Function",
    "graphs": 4,
    "ops_per_graph": [1, 2, 1, 1],
    "break_count": 2,
    "breaks": [
        {
            "line": 9,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "item_in_autograd_function.py:9",
            "function_skipped": False,
            "times": 2,
            "inside": "autograd.Function",
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The item() inside Clip.forward is the cause; torch may name the call of apply.",
    "cause": {9: "tensor_to_python_number"},
}
