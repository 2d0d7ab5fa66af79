"""Where torch's entry-point group ``torch_dynamo_backends`` leads, and nothing else.

Several threads may use a backend's name for the first time at once. Torch then loads the entry
point in each, and its registry raises "duplicate name" in all threads but the first (torch 2.11
to 2.14). So only the first load gets the function; a later one waits until torch has registered
that, and gets None, which torch's ``register_backend`` takes without registering anything.
"""

import threading
import time
from typing import Any

import graphlens.backends as backends
from graphlens._torch.dynamo import is_registered

_NAMES = ("graphlens", "graphlens_eager", "graphlens_aot_eager", "graphlens_compare")
_LONGEST_WAIT = 2.0  # seconds; registering takes microseconds once the function is handed over

_lock = threading.Lock()
_loaded: set[str] = set()


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _lock:
        is_first = name not in _loaded
        _loaded.add(name)
    if is_first or not _is_registered_soon(name):
        return getattr(backends, name)
    return None


def _is_registered_soon(name: str) -> bool:
    """Whether torch has registered a name, or does so while we wait."""
    deadline = time.monotonic() + _LONGEST_WAIT
    while not is_registered(name):
        if time.monotonic() > deadline:
            return False  # somebody else loaded the entry point first, and not to register it
        time.sleep(0.001)
    return True
