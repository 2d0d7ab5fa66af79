"""A generator object that lives across calls."""

import torch


def scales():
    value = 1.0
    while True:
        yield value
        value *= 2


SCALES = []


def fn(x):
    return x * next(SCALES[0])


def make():
    SCALES[:] = [scales()]
    return fn, [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "generators",
    "graphs": 2,
    "ops_per_graph": [1, 2],
    "break_count": 1,
    "breaks": [
        {
            "line": 17,
            "kind": "missing_tp_iternext",
            "torch_reason": "Missing tp_iternext",
            "torch_points_to": "iterator_kept.py:17",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "torch_dynamo_resume_in_fn_at_17",
            "at": "iterator_kept.py:17",
            "guard": "___stack1 == 1.0",
            "cause": "float_value",
            "line": 17,
            "reasons_listed": 1,
        }
    ],
    "notes": "next() on a generator made outside cannot be traced.",
    "cause": {17: "generator"},
    "versions": {
        "2.11": {
            "breaks": [
                {
                    "line": 17,
                    "kind": "call_method_on_generator",
                    "torch_reason": "call_method on generator",
                    "torch_points_to": "iterator_kept.py:17",
                    "function_skipped": False,
                    "times": 1,
                }
            ]
        },
        "2.14": {
            "graphs": 1,
            "ops_per_graph": [1],
            "break_count": 0,
            "breaks": [],
            "recompile_count": 0,
            "recompiles": [],
            "cause": {},
        },
    },
}
