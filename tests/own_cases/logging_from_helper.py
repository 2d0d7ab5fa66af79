"""A helper logs through a module-level logger, in a loop."""

import logging

import torch

LOGGER = logging.getLogger("own_cases")


def noted(x, i):
    LOGGER.debug("step %d", i)
    return x + i


def fn(x):
    for i in range(3):
        x = noted(x, i)
    return x


def make():
    return fn, [(torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "printing/logging",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 3,
    "breaks": [
        {
            "line": 11,
            "kind": "logging_call",
            "torch_reason": "logging.Logger method not supported for non-export cases",
            "torch_points_to": "logging_from_helper.py:11",
            "function_skipped": True,
            "times": 3,
        }
    ],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 0,
            "function": "noted",
            "at": "logging_from_helper.py:10",
            "guard": "i == 0",
            "cause": "int_value",
            "line": 11,
            "reasons_listed": 1,
        },
        {
            "call": 0,
            "function": "torch_dynamo_resume_in_noted_at_11",
            "at": "logging_from_helper.py:11",
            "guard": "i == 0",
            "cause": "int_value",
            "line": 12,
            "reasons_listed": 1,
        },
    ],
    "notes": "The logger in the helper; the loop in fn makes torch give fn up and compile the helper by itself, once for each i.",
    "cause": {11: "logging_call"},
}
