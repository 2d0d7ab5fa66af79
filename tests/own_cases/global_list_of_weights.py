"""A module-level dict of settings is edited between calls."""

import torch

SETTINGS = {"scale": 1.0, "shift": 0}


def fn(x):
    return x * SETTINGS["scale"] + SETTINGS["shift"]


def before_call(i, target):
    SETTINGS["shift"] = i * 2
    SETTINGS["scale"] = 1.0 if i < 2 else 0.25


def make():
    return fn, [(torch.ones(2),), (torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "global/closure/attribute recompiles",
    "graphs": 3,
    "ops_per_graph": [2, 2, 3],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "global_list_of_weights.py:8",
            "guard": "G['SETTINGS']['shift'] == 0",
            "cause": "global_value",
            "line": 9,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "global_list_of_weights.py:8",
            "guard": "G['SETTINGS']['scale'] == 1.0",
            "cause": "global_value",
            "line": 9,
            "reasons_listed": 2,
        },
    ],
    "notes": "SETTINGS['shift'] in one recompile and both entries in the next.",
    "cause": {},
}
