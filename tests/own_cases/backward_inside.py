"""A training step with backward in the compiled function, under compiled autograd."""

import torch


def fn(x, w):
    loss = (x @ w).square().mean()
    loss.backward()
    return loss.detach() * 2


def call(f, args):
    with torch._dynamo.config.patch(compiled_autograd=True):
        return f(*args)


def make():
    return fn, [(torch.ones(2, 3), torch.full((3, 1), 0.5, requires_grad=True))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "autograd inside",
    "graphs": 2,
    "ops_per_graph": [3, 2],
    "break_count": 1,
    "breaks": [
        {
            "line": 8,
            "kind": "backward_call",
            "torch_reason": "Unsupported Tensor.backward() call",
            "torch_points_to": "backward_inside.py:8",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "loss.backward() ends the graph; compiled autograd makes a graph of its own of the backward pass.",
    "cause": {8: "backward_call"},
}
