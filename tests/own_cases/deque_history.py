"""The last values are kept in a deque."""

from collections import deque

import torch

HISTORY = deque(maxlen=2)


def fn(x):
    HISTORY.append(x * 2)
    return sum(HISTORY)


def make():
    HISTORY.clear()
    return fn, [(torch.ones(2),), (torch.ones(2),), (torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "list/dict length recompiles",
    "graphs": 3,
    "ops_per_graph": [2, 3, 4],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "deque_history.py:10",
            "guard": "not G['HISTORY']",
            "cause": "other",
            "line": 11,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "deque_history.py:10",
            "guard": "len(G['HISTORY']) == 1",
            "cause": "container_length",
            "line": 11,
            "reasons_listed": 2,
        },
    ],
    "notes": "HISTORY grows until it is full: its length is what is compiled anew.",
    "cause": {},
}
