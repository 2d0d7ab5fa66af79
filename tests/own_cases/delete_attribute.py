"""An attribute of a plain object is deleted and set."""

import torch


class State:
    pass


STATE = State()
STATE.last = None


def fn(x):
    del STATE.last
    STATE.last = x.sum()
    return x * STATE.last


def make():
    STATE.last = None
    return fn, [(torch.ones(2),), (torch.ones(2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "side effects",
    "graphs": 1,
    "ops_per_graph": [2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "Nothing to report: what STATE.last was before is not read, so its new type is no reason to compile again.",
    "cause": {},
}
