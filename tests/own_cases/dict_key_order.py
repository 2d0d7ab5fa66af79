"""A dict of tensors that gains a key and changes its order."""

import torch


def fn(parts):
    total = 0
    for name in parts:
        total = total + parts[name] * len(name)
    return total


def make():
    a, b = torch.ones(2), torch.full((2,), 3.0)
    return fn, [({"a": a},), ({"a": a, "bb": b},), ({"bb": b, "a": a},)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "list/dict length recompiles",
    "graphs": 3,
    "ops_per_graph": [2, 4, 4],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "dict_key_order.py:6",
            "guard": "len(parts) != 1",
            "cause": "container_length",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "fn",
            "at": "dict_key_order.py:6",
            "guard": "list(dict.keys(parts))[0] == 'a'",
            "cause": "string_value",
            "line": 8,
            "reasons_listed": 2,
        },
    ],
    "notes": "The keys and their order are guarded: argument parts, its length first, then its order.",
    "cause": {},
}
