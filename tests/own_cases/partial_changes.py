"""A partial is made anew with another keyword for each call."""

import functools

import torch


def power(x, exponent, scale):
    return x.pow(exponent) * scale


def fn(x, step):
    return step(x) + 1


def make():
    x = torch.arange(1.0, 4.0)
    steps = [functools.partial(power, exponent=e, scale=1.0) for e in (2, 3, 3)]
    return fn, [(x, step) for step in steps]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "functools.partial",
    "graphs": 2,
    "ops_per_graph": [3, 3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "partial_changes.py:12",
            "guard": "step.keywords['exponent'] == 2",
            "cause": "int_value",
            "line": 9,
            "reasons_listed": 1,
        }
    ],
    "notes": "The keyword exponent in the partial changes; a new partial with equal values costs nothing.",
    "cause": {},
}
