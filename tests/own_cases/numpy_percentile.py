"""A NumPy function without a torch counterpart."""

import numpy as np
import torch


def fn(x):
    y = x.relu()
    limit = np.percentile(y.numpy(), 90)
    return y.clamp(max=float(limit))


def make():
    return fn, [(torch.arange(10.0),), (torch.arange(10.0),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "numpy/scipy",
    "graphs": 1,
    "ops_per_graph": [3],
    "break_count": 1,
    "breaks": [
        {
            "line": 10,
            "kind": "tensor_to_python_number",
            "torch_reason": "Data dependent operator",
            "torch_points_to": "numpy_percentile.py:10",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "np.percentile is traced by its torch counterpart; float() of its result is the break. torch.quantile and a tensor limit stay in the graph.",
    "cause": {10: "tensor_to_python_number"},
}
