"""An argument is a number, a list or a tensor."""

import torch


def fn(x, other):
    if isinstance(other, (int, float)):
        return x * other
    if isinstance(other, list):
        return x * torch.tensor(other)
    return x + other


def make():
    x = torch.ones(2)
    return fn, [(x, 2.0), (x, [1.0, 2.0]), (x, x)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "argument type recompiles",
    "graphs": 3,
    "ops_per_graph": [1, 2, 1],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "isinstance_dispatch.py:6",
            "guard": "other == 2.0",
            "cause": "float_value",
            "line": 7,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "isinstance_dispatch.py:6",
            "guard": "___check_type_id(other, <id>), type=<class 'list'>",
            "cause": "argument_type",
            "line": 7,
            "reasons_listed": 2,
        },
    ],
    "notes": "The type of other: float, then list, then Tensor.",
    "cause": {},
}
