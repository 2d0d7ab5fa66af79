"""A cache in a module's dict gains an entry a call."""

import torch


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x, step):
        self.cache[step] = x * 2
        return sum(self.cache.values()) + step


def make():
    x = torch.ones(2)
    return Cached(), [(x, 0), (x, 1), (x, 2)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "list/dict length recompiles",
    "graphs": 3,
    "ops_per_graph": [3, 4, 5],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 1,
            "function": "forward",
            "at": "cache_dict_grows.py:11",
            "guard": "step == 0",
            "cause": "int_value",
            "line": 12,
            "reasons_listed": 1,
        },
        {
            "call": 2,
            "function": "forward",
            "at": "cache_dict_grows.py:11",
            "guard": "len(self.cache) != 1",
            "cause": "container_length",
            "line": 12,
            "used_at": None,
            "reasons_listed": 2,
        },
    ],
    "notes": "self.cache is guarded by its keys, and the function itself adds one each call.",
    "cause": {},
}
