"""Torch's structured trace, read in process.

``torch._logging._internal.trace_log`` hands every record that ``TORCH_TRACE`` would write to each
of its handlers. While none is there torch produces nothing, so the handler is on it only while
somebody listens. Seen on torch 2.11, 2.13 and 2.14.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from graphlens._torch.compile_error import error_facts
from graphlens._torch.compiling_frame import frame_facts
from graphlens._torch.guards import failed_guards
from graphlens._torch.probes import probe
from graphlens.analysis.recompile_records import listed_reasons
from graphlens.model import TraceRecord

Listener = Callable[[TraceRecord], None]

# What the analysis reads. The rest (guards, bytecode, Chrome events, ...) is most of the text.
KINDS = frozenset(
    {
        "aot_backward_graph",
        "aot_forward_graph",
        "aot_inference_graph",
        "aotautograd_cache_bypass",
        "aotautograd_cache_hit",
        "aotautograd_cache_miss",
        "bwd_compilation_metrics",
        "compilation_metrics",
        "create_symbol",
        "create_unbacked_symbol",
        "dynamo_graph_break_reason",
        "dynamo_output_graph",
        "dynamo_start",
        "fx_graph_cache_bypass",
        "fx_graph_cache_hit",
        "fx_graph_cache_miss",
        "inductor_output_code",
        "inductor_post_grad_graph",
        "inductor_provenance_tracking_node_mappings",
        "recompile_reasons",
    }
)

# The metrics hold torch's whole configuration as text, 50 KB a compilation; these are read.
_METRICS = (
    "backend_compile_time_s",
    "co_filename",
    "co_firstlineno",
    "co_name",
    "entire_frame_compile_time_s",
    "fail_reason",
    "fail_type",
    "fail_user_frame_filename",
    "fail_user_frame_lineno",
    "graph_op_count",
    "guard_count",
    "has_guarded_code",
    "inductor_compile_time_s",
    "restart_reasons",
)

# Called when a record of that name comes, in the thread that compiles.
moments: dict[str, Callable[[], None]] = {}

_lock = threading.Lock()
_failures: dict[str, None] = {}  # in order, each once


class _Handler(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.listeners: tuple[Listener, ...] = ()
        self.strings: dict[int, str] = {}
        self.diverted: dict[int, list[TraceRecord]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.dispatch(record)
        except Exception as error:  # noqa: BLE001  it must not end the user's compilation
            _failures[f"{type(error).__name__}: {error}"] = None

    def dispatch(self, record: logging.LogRecord) -> None:
        metadata: Mapping[str, Any] = getattr(record, "metadata", {})
        kind = next(iter(metadata), "")
        data = metadata.get(kind)
        if kind == "str" and isinstance(data, (tuple, list)):
            self.strings[data[1]] = data[0]
            return
        if kind == "artifact" and isinstance(data, Mapping):
            kind = str(data.get("name", ""))
        if kind in moments:
            moments[kind]()
        if kind not in KINDS:
            return
        payload = _text(getattr(record, "payload", None))
        event = TraceRecord(
            kind=kind,
            compile_id=compile_id(metadata),
            attempt=int(metadata.get("attempt", 0)),
            data={
                **self.readable(kind, data if isinstance(data, Mapping) else {}),
                **_seen_now(kind, payload),
            },
            payload=payload,
        )
        self.hand(event)

    def hand(self, event: TraceRecord) -> None:
        """To all that listen, or to the one that this thread's records are diverted to."""
        own = self.diverted.get(threading.get_ident())
        if own is not None:
            own.append(event)
            return
        for listener in self.listeners:
            listener(event)

    def readable(self, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        if kind.endswith("compilation_metrics"):
            return {name: data[name] for name in _METRICS if name in data}
        return {
            key: self.stack(value) if key in ("stack", "user_stack") else value
            for key, value in data.items()
        }

    def stack(self, frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**frame, "filename": self.string(frame.get("filename", ""))} for frame in frames]

    def string(self, interned: int | str) -> str:
        if isinstance(interned, str):
            return interned
        if interned not in self.strings:
            self.strings.update(_interned_before())
        return self.strings.get(interned, "")


_handler: _Handler | None = None


def tell(make: Callable[[], TraceRecord | None]) -> None:
    """Hands a record of our own to all that listen, in its place among torch's.

    Args:
        make: Makes the record; a failure of it is noted as one of reading torch's trace is.
    """
    if _handler is None:
        return
    try:
        record = make()
        if record is not None:
            _handler.hand(record)
    except Exception as error:  # noqa: BLE001  it must not end the user's compilation
        _failures[f"{type(error).__name__}: {error}"] = None


def subscribe(listener: Listener) -> None:
    """Starts handing every record to the listener, from any thread."""
    global _handler
    with _lock:
        if _handler is None:
            _handler = _Handler()
            _trace_log().addHandler(_handler)
        _handler.listeners = (*_handler.listeners, listener)


def unsubscribe(listener: Listener) -> None:
    """Stops handing records to the listener; the last one takes the handler off torch's logger."""
    global _handler
    with _lock:
        if _handler is None:
            return
        # == and not `is`: a bound method is a new object at each look-up
        _handler.listeners = tuple(kept for kept in _handler.listeners if kept != listener)
        if not _handler.listeners:
            _trace_log().removeHandler(_handler)
            _handler = None


@contextmanager
def diverted(records: list[TraceRecord]) -> Iterator[None]:
    """What this thread's compilations tell in the block goes to a list, and to nobody else."""

    def listen(_: TraceRecord) -> None:
        """Keeps the handler there."""

    thread = threading.get_ident()
    subscribe(listen)
    handler = _handler
    assert handler is not None  # noqa: S101  somebody listens
    before = handler.diverted.get(thread)
    handler.diverted[thread] = records
    try:
        yield
    finally:
        if before is None:
            del handler.diverted[thread]
        else:
            handler.diverted[thread] = before
        unsubscribe(listen)


def failures() -> tuple[str, ...]:
    """What went wrong in this process while records were read, each once."""
    return tuple(_failures)


def installed_handlers() -> list[logging.Handler]:
    """Our handlers on torch's trace logger: one while somebody listens, else none."""
    return [handler for handler in _trace_log().handlers if isinstance(handler, _Handler)]


def compile_id(metadata: Mapping[str, Any]) -> str:
    """The compile id in a record's metadata, written as torch's ``CompileId`` writes itself."""
    parts: list[str] = []
    if metadata.get("compiled_autograd_id") is not None:
        parts.append(f"!{metadata['compiled_autograd_id']}")
    if metadata.get("frame_id") is not None:
        parts.append(f"{metadata['frame_id']}/{metadata.get('frame_compile_id')}")
    return "/".join(parts)


def _seen_now(kind: str, payload: str) -> dict[str, Any]:
    """What only a live run can know: torch's settings and the values that guards met."""
    try:
        if kind == "dynamo_start":
            return {"seen": frame_facts()}
        if kind == "recompile_reasons":
            return {"seen": failed_guards(listed_reasons(payload))}
        if kind == "compilation_metrics":
            return {"seen": error_facts()}
    except Exception as error:  # noqa: BLE001  the record itself is still good
        _failures[f"{type(error).__name__}: {error}"] = None
    return {}


def _text(payload: object) -> str:
    if isinstance(payload, bytes):
        return payload.decode(errors="replace")
    return payload if isinstance(payload, str) else "" if payload is None else str(payload)


def _trace_log() -> logging.Logger:
    from torch._logging._internal import trace_log

    return trace_log


def _interned_before() -> dict[int, str]:
    """Strings that torch interned, and so announced, before our handler was there."""
    from torch._logging.structured import INTERN_TABLE

    return {number: text for text, number in INTERN_TABLE.items()}


@probe("structured trace logger", seen_on="2.11, 2.13, 2.14")
def _probe_trace_log() -> str:
    logger = _trace_log()
    if not isinstance(logger, logging.Logger):
        raise TypeError(f"trace_log is a {type(logger).__name__}, not a Logger")
    return logger.name


@probe("interned strings of the trace", seen_on="2.11, 2.13, 2.14")
def _probe_interned() -> str:
    return f"{len(_interned_before())} strings"
