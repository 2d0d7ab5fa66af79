"""The caller turns autocast on for some calls."""

import contextlib

import torch


def fn(x, w):
    return (x @ w).relu()


def call(f, args):
    x, w, on = args
    with torch.autocast("cpu", torch.bfloat16) if on else contextlib.nullcontext():
        return f(x, w)


def make():
    eye = torch.eye(2)
    return fn, [(eye, eye, False), (eye, eye, True), (eye, eye, False)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "autocast",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "autocast_outside.py:8",
            "guard": "GLOBAL_STATE changed: autocast(cpu)_enabled",
            "cause": "global_state",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "The autocast mode around the call is global state that is guarded.",
    "cause": {},
}
