"""A generator expression turns tensors into floats while sum runs over it."""

import torch


def fn(x):
    total = sum(float(part) for part in x.unbind())
    return x / (total + 1)


def make():
    return fn, [(torch.ones(3),), (torch.ones(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "generators",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "generator_of_floats.py:7",
            "function_skipped": False,
            "times": 1,
        },
        {
            "line": 7,
            "kind": "generator_reconstruction_with_mutations",
            "torch_reason": "Generator reconstruction with mutations",
            "torch_points_to": "generator_of_floats.py:7",
            "function_skipped": True,
            "times": 1,
        },
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "float(part) inside the generator is the cause; sum and the generator are not. x.sum() replaces it.",
    "cause": {7: ["tensor_to_python_number", "generator"]},
}
