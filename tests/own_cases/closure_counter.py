"""A nested function that scales by a list its maker holds."""

import torch

SCHEDULE = []


def build():
    schedule = SCHEDULE

    def fn(x):
        return x * schedule[-1] + len(schedule)

    return fn


def before_call(i, target):
    SCHEDULE.append(0.5 + i)


def make():
    SCHEDULE.clear()
    return build(), [(torch.ones(2),), (torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "global/closure/attribute recompiles",
    "graphs": 3,
    "ops_per_graph": [2, 2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "closure_counter.py:11",
            "guard": "len(schedule) == 1",
            "cause": "container_length",
            "line": 12,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "closure_counter.py:11",
            "guard": "len(schedule) == 2",
            "cause": "container_length",
            "line": 12,
            "reasons_listed": 2,
        },
    ],
    "notes": "The closure's list schedule grows and its last entry changes.",
    "cause": {},
}
