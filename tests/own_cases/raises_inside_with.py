"""An error is raised and handled around a with block."""

import torch


def checked(x):
    with torch.enable_grad():
        if x.dim() != 2:
            raise ValueError("two dimensions are needed")
    return x.sum(0)


def fn(x):
    try:
        return checked(x)
    except ValueError:
        return checked(x.unsqueeze(0))


def make():
    return fn, [(torch.ones(2, 3),), (torch.ones(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "exceptions in compiled code",
    "graphs": 2,
    "ops_per_graph": [1, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "raises_inside_with.py:13",
            "guard": "tensor 'x' rank mismatch. expected 2, actual 1",
            "cause": "tensor_rank",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "Nothing breaks: the exception is traced; the rank of x is what is compiled anew.",
    "cause": {},
}
