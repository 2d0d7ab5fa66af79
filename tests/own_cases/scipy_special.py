"""A special function of SciPy on the way."""

import torch
from scipy import special


def fn(x):
    y = special.expit(x.mul(2).numpy())
    return torch.from_numpy(y).sum()


def make():
    return fn, [(torch.ones(3),), (torch.ones(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "numpy/scipy",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 1,
    "breaks": [
        {
            "line": 8,
            "kind": "unsupported_method_call",
            "torch_reason": "Unsupported method call",
            "torch_points_to": "scipy_special.py:8",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "special.expit is a C function; torch.sigmoid is the same and stays in the graph.",
    "cause": {8: "untraceable_library"},
    "versions": {
        "2.14": {
            "breaks": [
                {
                    "line": 8,
                    "kind": "call_to_a_callable_object_with_no_traceable_call",
                    "torch_reason": "call to a callable object with no traceable __call__",
                    "torch_points_to": "scipy_special.py:8",
                    "function_skipped": False,
                    "times": 1,
                }
            ]
        }
    },
}
