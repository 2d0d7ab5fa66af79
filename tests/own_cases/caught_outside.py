"""Compiled code checks its input, raises, and the caller catches."""

import torch


class TooLongError(ValueError):
    pass


def fn(x):
    y = x * 2
    if x.shape[0] > 3:
        raise TooLongError(f"{x.shape[0]} rows")
    return y.sin()


def call(f, args):
    try:
        return f(*args)
    except TooLongError as error:
        return str(error)


def make():
    return fn, [(torch.ones(2),), (torch.ones(5),), (torch.ones(3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "exceptions in compiled code",
    "graphs": 1,
    "ops_per_graph": [2],
    "break_count": 1,
    "breaks": [
        {
            "line": 13,
            "kind": "user_exception",
            "torch_reason": "Observed exception",
            "torch_points_to": "caught_outside.py:13",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "caught_outside.py:10",
            "guard": "tensor 'x' size mismatch at index 0. expected 2, actual 5",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "The exception is meant; the call that raises runs eager, and the size check makes one compilation a size.",
    "cause": {13: "user_exception"},
}
