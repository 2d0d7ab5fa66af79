"""A sparse tensor is built from a dense one on the way."""

import torch


def fn(x, w):
    mask = (w > 0.5).to_sparse()
    return torch.sparse.mm(mask.float(), x).relu()


def make():
    return fn, [(torch.ones(3, 2), torch.eye(3))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "sparse tensors",
    "graphs": 1,
    "ops_per_graph": [1],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "sparse_tensor",
            "torch_reason": "Attempted to wrap sparse Tensor with VariableTracker",
            "torch_points_to": "sparse_mask.py:7",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 8,
            "kind": "sparse_tensor",
            "torch_reason": "Attempted to wrap sparse Tensor",
            "torch_points_to": "sparse_mask.py:8",
            "function_skipped": True,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "to_sparse gives a tensor that torch.compile does not carry; multiplying with the dense mask does.",
    "cause": {7: "sparse_tensor", 8: "sparse_tensor"},
}
