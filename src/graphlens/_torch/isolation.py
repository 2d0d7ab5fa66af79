"""Compiling something and leaving Dynamo's memory as it was.

Dynamo keeps compiled code, and what it learned about dynamic sizes, with each code object, for
all backends together. There is no public way to take part of it back; ``torch._dynamo.reset``
takes everything, the user's compiled functions included.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from graphlens._torch.probes import probe


@contextmanager
def isolated_compilation(is_ours: Callable[[Any], bool]) -> Iterator[None]:
    """What is compiled inside is dropped at the end; what was there before stays.

    Args:
        is_ours: Whether a backend is the one used inside.
    """
    from torch._C._dynamo.eval_frame import reset_code
    from torch._dynamo import pgo

    learned = pgo.get_code_state()
    learned_before = copy.deepcopy(dict(learned))
    seen_before = {id(code) for code in _codes_seen()}
    try:
        yield
    finally:
        learned.clear()
        learned.update(learned_before)
        for code in _codes_seen():
            if id(code) in seen_before:
                _drop_entries(code, is_ours)
            else:
                reset_code(code)


def compiled_entries(code: CodeType) -> int:
    """How many compilations Dynamo holds for a code object."""
    return len(_entries(code))


def _codes_seen() -> list[CodeType]:
    """Every code object Dynamo was asked to compile, those not yet collected."""
    from torch._dynamo.convert_frame import input_codes

    found = [reference() for reference in input_codes.seen]
    return [code for code in found if code is not None]


def _drop_entries(code: CodeType, is_ours: Callable[[Any], bool]) -> None:
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    for entry in _entries(code):
        state = getattr(entry.guard_manager, "extra_state", None)
        if state is not None and is_ours(_backend_of(entry)):
            state.invalidate(entry, DeletedGuardManagerWrapper("graphlens.explain has ended"))


def _entries(code: CodeType) -> list[Any]:
    from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list

    return list(_debug_get_cache_entry_list(code))


def _backend_of(entry: Any) -> Any:
    backend = entry.backend
    while hasattr(backend, "compiler_fn"):  # torch._TorchCompileWrapper
        backend = backend.compiler_fn
    return backend


@probe("Dynamo's cache entries and learned sizes", seen_on="2.13, 2.14")
def _probe_cache_entries() -> str:
    from torch._C._dynamo.eval_frame import reset_code
    from torch._dynamo import pgo
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    if not callable(reset_code):
        raise TypeError("reset_code is not callable")
    DeletedGuardManagerWrapper("probe")
    codes = len(_codes_seen())
    entries = compiled_entries(_probe_cache_entries.__code__)
    return f"{codes} code objects, {entries} entries, {len(pgo.get_code_state())} code states"
