"""fullgraph=True turns a break into an error."""

import torch

COMPILE = {"fullgraph": True}


def fn(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def make():
    return fn, [(torch.ones(2),), (-torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "data-dependent control flow",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The error is the user's wish; the branch on x.sum() is the line to name, torch.where or torch.cond the way out.",
    "cause": {},
}
