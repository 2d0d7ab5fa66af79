"""An enum member chooses the activation."""

import enum

import torch


class Activation(enum.Enum):
    RELU = 1
    TANH = 2


def fn(x, activation):
    if activation is Activation.RELU:
        return x.relu() + 1
    return x.tanh() + 1


def make():
    x = torch.arange(-2.0, 2.0)
    return fn, [(x, Activation.RELU), (x, Activation.TANH), (x, Activation.RELU)]


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
            "at": "enum_argument.py:13",
            "guard": "___check_obj_id(activation, <id>), type=<class 'enum_argument.Activation'>",
            "cause": "object_identity",
            "line": 14,
            "reasons_listed": 1,
        }
    ],
    "notes": "activation is guarded by identity; torch's text holds an address, the explanation must name the argument and its member.",
    "cause": {},
    "versions": {
        "2.11": {
            "recompiles": [
                {
                    "call": 1,
                    "function": "fn",
                    "at": "enum_argument.py:13",
                    "guard": "___check_obj_id(activation, <id>), type=<Activation.RELU: 1>",
                    "cause": "object_identity",
                    "line": 14,
                    "reasons_listed": 1,
                }
            ]
        }
    },
}
