"""A quantized tensor is dequantized in the compiled function."""

import torch


def fn(x):
    q = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
    return q.dequantize() * 2


def make():
    return fn, [(torch.arange(4.0),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "unsupported tensor types",
    "graphs": 1,
    "ops_per_graph": [3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "Nothing to report: the tensor is quantized and dequantized in one graph.",
    "cause": {},
    "versions": {
        "2.11": {
            "graphs": 0,
            "ops_per_graph": [],
            "break_count": 2,
            "breaks": [
                {
                    "line": 7,
                    "kind": "notimplementederror_unsupportedfaketensorexception",
                    "torch_reason": "NotImplementedError/UnsupportedFakeTensorException when running FX node",
                    "torch_points_to": "quantized_input.py:7",
                    "function_skipped": False,
                    "times": 1,
                },
                {
                    "line": 8,
                    "kind": "fake_tensor_propagation_exception",
                    "torch_reason": "Fake tensor propagation exception",
                    "torch_points_to": "quantized_input.py:8",
                    "function_skipped": True,
                    "times": 1,
                },
            ],
            "cause": {7: "unsupported_type", 8: "unsupported_type"},
        }
    },
}
