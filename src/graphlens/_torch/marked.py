"""Functions that Dynamo treats specially by their identity, so that a copy is another function.

Seen on torch 2.11, 2.13 and 2.14.
"""

from typing import Any

from graphlens._torch.probes import probe

# What allow_in_graph, disallow_in_graph, nonstrict_trace and leaf_function write to.
_MARKS = (
    "_allowed_callable_ids",
    "_disallowed_callable_ids",
    "_nonstrict_trace_callable_ids",
    "_leaf_function_ids",
)


def is_marked(function: Any) -> bool:
    """Whether ``allow_in_graph`` or the like was called on this very function."""
    from torch._dynamo import trace_rules

    return any(id(function) in getattr(trace_rules, name) for name in _MARKS)


@probe("functions Dynamo knows by identity", seen_on="2.11, 2.13, 2.14")
def _probe_marks() -> str:
    if is_marked(_probe_marks):
        raise TypeError("every function is marked")
    return "found"
