"""Options in a dataclass, one field of which changes."""

import dataclasses

import torch


@dataclasses.dataclass
class Options:
    eps: float
    rounds: int
    name: str = "plain"


def fn(x, options):
    for _ in range(options.rounds):
        x = x / (x.norm() + options.eps)
    return x


def make():
    x = torch.arange(3.0)
    return fn, [(x, Options(1e-3, 1)), (x, Options(1e-3, 2)), (x, Options(1e-3, 2, "other"))]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "structured outputs",
    "graphs": 2,
    "ops_per_graph": [3, 6],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "dataclass_argument.py:15",
            "guard": "options.rounds == 1",
            "cause": "int_value",
            "line": 16,
            "reasons_listed": 1,
        }
    ],
    "notes": "options.rounds; the field name is not read and must not be blamed.",
    "cause": {},
}
