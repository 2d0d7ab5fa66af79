"""Dynamo's settings for the time of one capture, and marks on tensors.

Seen on torch 2.11, 2.13 and 2.14. Settings are those of the thread since 2.12.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from graphlens._torch.probes import probe

# What advice switches on. A set is added to, anything else is set.
SWITCHES = (
    "allow_unspec_int_on_nn_module",
    "capture_dynamic_output_shape_ops",
    "capture_scalar_outputs",
    "trace_autograd_ops",
)
FUNCTION_SETS = ("ignore_logging_functions", "reorderable_logging_functions")


@contextmanager
def changed_settings(
    values: Mapping[str, Any], functions: Mapping[str, frozenset[Callable[..., Any]]]
) -> Iterator[None]:
    """Settings of ``torch._dynamo.config`` for the block; they are put back at its end.

    Args:
        values: New values by name.
        functions: Functions to add to the sets of functions, by name.

    Raises:
        AttributeError: This torch has no such setting.
    """
    config = torch._dynamo.config
    added = {name: {*getattr(config, name), *more} for name, more in functions.items()}
    with config.patch({**values, **added}):
        yield


def has_setting(name: str) -> bool:
    """Whether this torch has a setting of ``torch._dynamo.config``."""
    return hasattr(torch._dynamo.config, name)


def mark_dynamic(tensor: torch.Tensor, dimension: int) -> None:
    """Marks a dimension as one that varies, as ``torch._dynamo.mark_dynamic`` does."""
    torch._dynamo.mark_dynamic(tensor, dimension)


@probe("settings that advice switches", seen_on="2.11, 2.13, 2.14")
def _probe_settings() -> str:
    missing = [
        name for name in (*SWITCHES, *FUNCTION_SETS) if not hasattr(torch._dynamo.config, name)
    ]
    if missing:
        raise TypeError(f"torch._dynamo.config has no {', '.join(missing)}")
    with changed_settings({}, {}):
        return f"{len(SWITCHES) + len(FUNCTION_SETS)} settings"
