"""A disabled function is called in a loop of two."""

import torch


@torch.compiler.disable(recursive=False)
def damped(x):
    return torch.where(x > 1, x / 2, x)


def fn(x):
    for factor in (2.0, 3.0):
        x = damped(x * factor)
    return x


def make():
    return fn, [(torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "torch.compiler.disable",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 13,
            "kind": "skip_inlining_torch_compiler_disable_d_function",
            "torch_reason": "Skip inlining `torch.compiler.disable()`d function",
            "torch_points_to": "disabled_in_loop.py:13",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "damped is disabled on purpose; as it stands in a loop, the whole of fn runs eager.",
    "cause": {13: "disabled_function"},
}
