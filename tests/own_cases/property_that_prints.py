"""A property with a side effect."""

import torch


class Settings:
    @property
    def scale(self):
        print("scale was read")
        return 2.0


SETTINGS = Settings()


def fn(x):
    return x.sin() * SETTINGS.scale


def make():
    return fn, [(torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "printing/logging",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 9,
            "kind": "print_call",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "property_that_prints.py:9",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "Reading an attribute prints; the line in fn does not look like a call.",
    "cause": {9: "print_call"},
}
