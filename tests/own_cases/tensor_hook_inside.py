"""A gradient hook is put on an intermediate value."""

import torch

SEEN = []


def keep(grad):
    SEEN.append(grad.shape[0])
    return grad * 0.5


def fn(x):
    y = x.sin()
    y.register_hook(keep)
    return y * 2


BACKWARD = True


def make():
    SEEN.clear()
    return fn, [(torch.ones(3, requires_grad=True),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "hooks",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 9,
            "kind": "hop_unsafe_side_effect",
            "torch_reason": "HOP: Unsafe side effect",
            "torch_points_to": "tensor_hook_inside.py:9",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The hook appends to a list outside of it; without the append it would be traced.",
    "cause": {9: "side_effect"},
    "versions": {
        "2.11": {
            "breaks": [
                {
                    "line": 9,
                    "kind": "hop_unsafe_side_effect",
                    "torch_reason": "HOP: Unsafe side effect",
                    "torch_points_to": "tensor_hook_inside.py:9",
                    "function_skipped": False,
                    "times": 1,
                    "inside": "autograd.Function",
                }
            ]
        }
    },
}
