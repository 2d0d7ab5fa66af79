"""A table behind functools.lru_cache, with tensors inside."""

import functools

import torch


@functools.lru_cache(maxsize=4)
def angles(size):
    return torch.arange(size).float() / size


def fn(x):
    return x * angles(x.shape[-1]).cos()


def make():
    return fn, [(torch.ones(3),), (torch.ones(3),), (torch.ones(5),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "functools.lru_cache",
    "graphs": 2,
    "ops_per_graph": [5, 5],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 2,
            "function": "fn",
            "at": "cached_table.py:13",
            "guard": "tensor 'x' size mismatch at index 0. expected 3, actual 5",
            "cause": "tensor_size",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "torch traces through the cache and warns; the size of x is what is compiled anew.",
    "cause": {},
}
