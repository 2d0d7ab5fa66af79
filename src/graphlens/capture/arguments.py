"""FX arguments as short readable text."""

from typing import Any

import torch


def argument_text(argument: Any) -> str:
    """An argument as FX's own code would print it; nodes by their names."""
    if isinstance(argument, torch.fx.Node):
        return argument.name
    if isinstance(argument, (list, tuple)):
        return _sequence(argument)
    if isinstance(argument, dict):
        inside = ", ".join(f"{key!r}: {argument_text(value)}" for key, value in argument.items())
        return f"{{{inside}}}"
    if isinstance(argument, slice):
        parts = (argument.start, argument.stop, argument.step)
        return f"slice({', '.join(argument_text(part) for part in parts)})"
    if callable(argument) and hasattr(argument, "__name__"):
        return str(argument.__name__)
    return repr(argument)


def _sequence(values: list[Any] | tuple[Any, ...]) -> str:
    inside = ", ".join(argument_text(value) for value in values)
    if isinstance(values, list):
        return f"[{inside}]"
    return f"({inside},)" if len(values) == 1 else f"({inside})"
