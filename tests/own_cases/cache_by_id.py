"""Results are cached by the id and the hash of the argument."""

import torch

CACHE = {}


def fn(x, key):
    slot = (id(x), hash(key))
    if slot not in CACHE:
        CACHE[slot] = x.sum()
    return CACHE[slot] * 2


def make():
    CACHE.clear()
    x = torch.ones(2)
    return fn, [(x, "a"), (x, "a")]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "object identity",
    "graphs": 2,
    "ops_per_graph": [2, 1],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "fn",
            "at": "cache_by_id.py:8",
            "guard": "not ___dict_contains((<value>, <value>), G['CACHE'])",
            "cause": "attribute_presence",
            "line": 10,
            "reasons_listed": 1,
        }
    ],
    "notes": "id(x) is read while tracing, so the entry it made is guarded; the cache itself causes the one recompile.",
    "cause": {},
    "versions": {
        "2.11": {
            "break_count": 1,
            "breaks": [
                {
                    "line": 9,
                    "kind": "failed_to_trace_builtin_operator",
                    "torch_reason": "Failed to trace builtin operator",
                    "torch_points_to": "cache_by_id.py:9",
                    "function_skipped": False,
                    "times": 1,
                }
            ],
            "recompiles": [
                {
                    "call": 1,
                    "function": "torch_dynamo_resume_in_fn_at_9",
                    "at": "cache_by_id.py:9",
                    "guard": "not ___dict_contains((<value>, <value>), G['CACHE'])",
                    "cause": "attribute_presence",
                    "line": 10,
                    "reasons_listed": 1,
                }
            ],
            "cause": {9: "untraceable_builtin"},
        }
    },
}
