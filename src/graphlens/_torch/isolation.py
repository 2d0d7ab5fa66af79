"""Compiling something and leaving Dynamo's memory as it was.

Dynamo keeps compiled code, and what it learned about dynamic sizes, with each code object, for
all backends together. There is no public way to take part of it back; ``torch._dynamo.reset``
takes everything, the user's compiled functions included.
"""

import copy
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch

from graphlens._torch import trace
from graphlens._torch.probes import probe
from graphlens.model import TraceRecord

IsOurs = Callable[[Any], bool]
Place = tuple[str, int, str]  # a code object's file, first line and name

_NOT_ISOLATED = -1  # torch's id for what is compiled without isolate_recompiles


@contextmanager
def isolated_compilation(is_ours: IsOurs) -> Iterator[None]:
    """What this thread compiles inside is dropped at the end; all else stays.

    Other threads may compile meanwhile: what they compile, and learn of dynamic sizes, is kept.

    Args:
        is_ours: Whether a backend is the one used inside.
    """
    from torch._dynamo import pgo
    from torch._dynamo.convert_frame import compile_lock, input_codes

    learned_before = copy.deepcopy(dict(pgo.get_code_state()))
    references_before = list(input_codes.seen)
    attempts = _Attempts()
    try:
        with attempts.noted():
            yield
    finally:
        # Dynamo compiles under this lock, so no code object is dropped while it is being compiled.
        with compile_lock:
            _forget_learned(learned_before, attempts)
            # By reference: the id of a code object that is gone may be that of a new one.
            before = {id(reference()) for reference in references_before}
            for code in _codes_seen():
                others = _place(code) in attempts.theirs or _holds_others(code, is_ours)
                if id(code) in before or others:
                    _drop_entries(code, is_ours)
                else:
                    _drop(code)


class _Attempts:
    """Which code objects were compiled meanwhile, by this thread and by others."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.ours: set[Place] = set()
        self.theirs: set[Place] = set()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Listens to torch's trace, which reports from the thread that compiles."""
        try:
            trace.subscribe(self.note)
        except (ImportError, AttributeError):  # the recorder tells the user
            yield
            return
        try:
            yield
        finally:
            trace.unsubscribe(self.note)

    def note(self, record: TraceRecord) -> None:
        if record.kind != "dynamo_start":
            return
        # Torch puts the code object after the frames that led to it (2.11, 2.13, 2.14).
        frame = record.data["stack"][-1]
        place = (frame["filename"], frame["line"], frame["name"])
        (self.ours if threading.get_ident() == self.thread else self.theirs).add(place)


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


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno, code.co_name


def _forget_learned(before: dict[Any, Any], attempts: _Attempts) -> None:
    """Puts back what Dynamo knows of dynamic sizes, except what other threads taught it."""
    from torch._dynamo import pgo

    learned = pgo.get_code_state()
    for code_id in [*learned, *before]:
        place = (code_id.filename, code_id.firstlineno, code_id.name)
        # Sizes of an inlined function are filed under it, though it was never compiled itself.
        others = place in attempts.theirs or (attempts.theirs and place not in attempts.ours)
        if others:
            continue
        if code_id in before:
            learned[code_id] = before[code_id]
        else:
            learned.pop(code_id, None)


def _drop(code: CodeType) -> None:
    """Frees all that Dynamo keeps with a code object, its decision to skip it included."""
    from torch._C._dynamo.eval_frame import reset_code
    from torch._dynamo.convert_frame import input_codes

    reset_code(code)
    # The reference goes first, and with it its callback, which would look for the id. In place,
    # as another explain may be looking at the same list.
    for index, reference in reversed(list(enumerate(input_codes.seen))):
        if reference() is code:
            del input_codes.seen[index]
    input_codes.seen_ids.discard(id(code))


def _holds_others(code: CodeType, is_ours: IsOurs) -> bool:
    return any(_is_valid(entry) and not is_ours(_backend_of(entry)) for entry in _entries(code))


def _drop_entries(code: CodeType, is_ours: IsOurs) -> None:
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    for entry in _entries(code):
        state = getattr(entry.guard_manager, "extra_state", None)
        if state is not None and _is_valid(entry) and is_ours(_backend_of(entry)):
            state.invalidate(entry, DeletedGuardManagerWrapper("graphlens.explain has ended"))


def _is_valid(entry: Any) -> bool:
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    return not isinstance(entry.guard_manager, DeletedGuardManagerWrapper)


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
