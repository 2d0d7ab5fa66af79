"""Compiling something and leaving Dynamo's memory as it was.

Dynamo keeps compiled code, and what it learned about dynamic sizes, with each code object, for
all backends together. There is no public way to take part of it back; ``torch._dynamo.reset``
takes everything, the user's compiled functions included.
"""

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch

from graphlens._torch.probes import probe

_NOT_ISOLATED = -1  # torch's id for what is compiled without isolate_recompiles


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
            if id(code) not in seen_before:
                reset_code(code)
                _forget(code)
            elif not can_isolate():
                _drop_entries(code, is_ours)


def can_isolate() -> bool:
    """Whether ``torch.compile`` takes ``isolate_recompiles`` (torch 2.13 and 2.14).

    With it, what is compiled for one call of ``torch.compile`` is kept apart from the rest, limit
    included. Without it our entries are disabled at the end, but still count for the limit.
    """
    return "isolate_recompiles" in inspect.signature(torch.compile).parameters


def isolation_keywords() -> dict[str, bool]:
    """What to give to ``torch.compile`` inside `isolated_compilation`."""
    return {"isolate_recompiles": True} if can_isolate() else {}


def compiled_entries(code: CodeType) -> int:
    """How many compilations Dynamo holds for a code object, isolated ones left out."""
    from torch._C._dynamo import eval_frame

    if not can_isolate():
        return len(_entries(code))
    return len(eval_frame._get_cache_entries_for_region(code, _NOT_ISOLATED))


def _codes_seen() -> list[CodeType]:
    """Every code object Dynamo was asked to compile, those not yet collected."""
    from torch._dynamo.convert_frame import input_codes

    found = [reference() for reference in input_codes.seen]
    return [code for code in found if code is not None]


def _forget(code: CodeType) -> None:
    """Takes a code object off the list of those Dynamo was asked to compile."""
    from torch._dynamo.convert_frame import input_codes

    # The reference goes first, and with it its callback, which would look for the id.
    input_codes.seen = [reference for reference in input_codes.seen if reference() is not code]
    input_codes.seen_ids.discard(id(code))


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
