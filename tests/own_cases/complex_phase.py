"""A complex value is taken apart, and its phase compared."""

import torch


def fn(x):
    z = torch.view_as_complex(x)
    spin = complex(z.mean())
    return torch.view_as_real(z * spin)


def make():
    return fn, [(torch.ones(3, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "complex tensors",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 1,
    "breaks": [
        {
            "line": 8,
            "kind": "failed_to_trace_builtin_operator",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "complex_phase.py:8",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "complex(z) takes a Python number out of a tensor.",
    "cause": {8: "tensor_to_python_number"},
}
