"""Frames from torch's trace: what became of every function Dynamo looked at."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from graphlens.analysis import break_records
from graphlens.analysis.compilations import (
    CompilationKey,
    by_compilation,
    caller_of,
    start_of,
)
from graphlens.analysis.places import user_frame
from graphlens.analysis.recompiles import reached_limit
from graphlens.analysis.stacks import parse_stack
from graphlens.model import (
    Compilation,
    Frame,
    GraphBreak,
    SourceLocation,
    TraceRecord,
    Unavailable,
)

_BREAK_ERROR = "Unsupported"
_SKIP_ERRORS = ("SkipFrame", "SkipCodeRecursiveException")
_WORST_FIRST = ("failed", "skipped", "recompile_limit", "compiled", "no_graph", "unfinished")


def collect_frames(records: Sequence[TraceRecord]) -> tuple[Frame, ...]:
    """One frame for each function, with its compilations in order."""
    frames: dict[str, list[tuple[SourceLocation, Compilation]]] = defaultdict(list)
    limits: dict[str, int | Unavailable] = {}
    errors: dict[str, GraphBreak] = {}
    for key, own in by_compilation(records).items():
        compilation = _compilation(key, own)
        frames[key.frame].append((_location(own), compilation))
        error = _error(compilation, _metrics(own))
        if error is not None:
            errors[key.frame] = error
        limits.setdefault(key.frame, _limit(own))
    return tuple(
        _frame(frame_id, found, limits[frame_id], errors.get(frame_id))
        for frame_id, found in frames.items()
    )


def _error(compilation: Compilation, metrics: dict[str, Any]) -> GraphBreak | None:
    """The break that ended a compilation as an error."""
    place = _stopped_at(metrics)
    error = str(metrics.get("fail_type")).rpartition(".")[2]
    if compilation.outcome != "failed" or error != _BREAK_ERROR or place is None:
        return None
    message, stack = str(metrics.get("fail_reason") or ""), _error_stack(metrics)
    found = break_records.parse_error(message, place, stack, compilation.compile_id)
    why = "the error went to the caller, and the line was not run"
    return msgspec.structs.replace(found, hits=Unavailable(why))


def _limit(records: Iterable[TraceRecord]) -> int | Unavailable:
    for record in records:
        if record.kind == "dynamo_start" and record.data.get("seen"):
            return int(record.data["seen"]["limit"])
    return Unavailable("only a live run knows torch's settings")


def _location(records: list[TraceRecord]) -> SourceLocation:
    return start_of(records) or SourceLocation(file="", line=0)


def _frame(
    frame_id: str,
    found: list[tuple[SourceLocation, Compilation]],
    limit: int | Unavailable,
    error: GraphBreak | None,
) -> Frame:
    location = next((place for place, _ in found if place.file), found[0][0])
    compilations = tuple(compilation for _, compilation in found)
    worst = min(compilations, key=lambda c: _WORST_FIRST.index(c.outcome))
    return Frame(
        id=frame_id,
        function=location.function,
        file=location.file,
        line=location.line,
        outcome=worst.outcome,
        reason=_reason(worst, compilations),
        compilations=compilations,
        limit=limit,
        error=error,
    )


def _reason(worst: Compilation, compilations: Sequence[Compilation]) -> str:
    compiled = sum(compilation.outcome == "compiled" for compilation in compilations)
    if not worst.reason or not compiled:
        return worst.reason
    others = f"{compiled} of {len(compilations)} compilations stay in use for calls that fit them."
    return f"{worst.reason}\n{others}"


def _compilation(key: CompilationKey, records: list[TraceRecord]) -> Compilation:
    metrics = _metrics(records)
    outcome, reason = _outcome(records)
    return Compilation(
        compile_id=key.compile_id,
        outcome=outcome,
        reason=reason,
        seconds=_number(metrics, "entire_frame_compile_time_s"),
        backend_seconds=_number(metrics, "backend_compile_time_s"),
        operators=_count(metrics, "graph_op_count"),
        guards=_count(metrics, "guard_count"),
        restarts=tuple(str(reason) for reason in metrics.get("restart_reasons") or ()),
        called_from=caller_of(records),
        failed_at=_failed_at(metrics) if outcome == "failed" else None,
    )


def _failed_at(metrics: dict[str, Any]) -> SourceLocation | None:
    """The user's line; from a log alone the line that torch was at, which can be a library's."""
    own = user_frame(parse_stack(_error_stack(metrics)))
    return own or _stopped_at(metrics)


def _error_stack(metrics: dict[str, Any]) -> str:
    return str((metrics.get("seen") or {}).get("stack") or "")


def _stopped_at(metrics: dict[str, Any]) -> SourceLocation | None:
    file, line = metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
    return SourceLocation(file=str(file), line=int(line)) if file and line else None


def _outcome(records: list[TraceRecord]) -> tuple[str, str]:
    """What became of a compilation, and why.

    A frame that Dynamo gives up has a failure in its metrics and a break record that says the
    function is skipped; the same failure without that record went to the user as an error.
    """
    kinds = {record.kind for record in records}
    metrics = _metrics(records)
    failure = str(metrics.get("fail_reason") or "")
    if reached_limit(records):
        return "recompile_limit", failure
    if metrics.get("fail_type"):
        skipped = any(
            break_records.is_graph_break(record)
            and break_records.parse_break(record).consequence == "frame_skipped"
            for record in records
        )
        if skipped or str(metrics["fail_type"]) in _SKIP_ERRORS:
            return "skipped", failure
        # Such as an IndexError inside of torch, whose message alone says nothing.
        return "failed", failure if str(metrics["fail_type"]) in failure else (
            f"{str(metrics['fail_type']).rpartition('.')[2]}: {failure}"
        )
    if "dynamo_output_graph" in kinds:
        return "compiled", ""
    return ("no_graph" if metrics else "unfinished"), ""


def _metrics(records: Iterable[TraceRecord]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        if record.kind == "compilation_metrics":
            found = record.data
    return found


def _number(metrics: dict[str, Any], name: str) -> float | Unavailable:
    value = metrics.get(name)
    return float(value) if isinstance(value, (int, float)) else Unavailable("torch did not say")


def _count(metrics: dict[str, Any], name: str) -> int | Unavailable:
    value = metrics.get(name)
    return value if isinstance(value, int) else Unavailable("torch did not say")
