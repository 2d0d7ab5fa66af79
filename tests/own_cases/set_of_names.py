"""Names in a set decide which branch runs."""

import torch

ENABLED = {"norm"}


def fn(x):
    if "norm" in ENABLED:
        x = x / x.norm()
    if "shift" in ENABLED:
        x = x + 1
    return x


def before_call(i, target):
    ENABLED.clear()
    ENABLED.update([{"norm"}, {"norm", "shift"}, {"shift"}][i])


def make():
    return fn, [(torch.ones(4),), (torch.ones(4),), (torch.ones(4),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "container contents",
    "graphs": 3,
    "ops_per_graph": [2, 3, 1],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "set_of_names.py:8",
            "guard": "not set.__contains__(G['ENABLED'], 'shift')",
            "cause": "other",
            "line": 11,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "set_of_names.py:8",
            "guard": "set.__contains__(G['ENABLED'], 'norm')",
            "cause": "other",
            "line": 9,
            "reasons_listed": 2,
        },
    ],
    "notes": "Membership in the global set ENABLED changes.",
    "cause": {},
    "versions": {
        "2.11": {
            "recompiles": [
                {
                    "call": 1,
                    "function": "fn",
                    "at": "set_of_names.py:8",
                    "guard": "set.__contains__(G['ENABLED'], 'shift')",
                    "cause": "other",
                    "line": 11,
                    "reasons_listed": 1,
                },
                {
                    "call": 2,
                    "function": "fn",
                    "at": "set_of_names.py:8",
                    "guard": "set.__contains__(G['ENABLED'], 'norm')",
                    "cause": "other",
                    "line": 9,
                    "reasons_listed": 2,
                },
            ]
        }
    },
}
