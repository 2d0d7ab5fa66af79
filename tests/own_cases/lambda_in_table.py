"""Activations are looked up in a table of lambdas."""

import torch

TABLE = {"double": lambda x: x * 2, "shift": lambda x: x + 1}


def fn(x, f):
    return f(x).relu()


def make():
    x = torch.ones(2)
    return fn, [(x, TABLE["double"]), (x, TABLE["shift"]), (x, TABLE["double"])]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "global/closure/attribute recompiles",
    "graphs": 2,
    "ops_per_graph": [2, 2],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "lambda_in_table.py:8",
            "guard": "___check_obj_id(f.__code__, <id>), type=<class 'code'>",
            "cause": "object_identity",
            "line": 9,
            "reasons_listed": 1,
        }
    ],
    "notes": "Which lambda is passed as f is guarded by the identity of its code.",
    "cause": {},
    "versions": {
        "2.11": {
            "recompiles": [
                {
                    "call": 1,
                    "function": "fn",
                    "at": "lambda_in_table.py:8",
                    "guard": '___check_obj_id(f.__code__, <id>), type=<code object <lambda> at 0x.., file "lambda_in_table.py", line 5>',
                    "cause": "object_identity",
                    "line": 9,
                    "reasons_listed": 1,
                }
            ]
        }
    },
}
