"""Frames and recompiles from torch's trace: what became of every function Dynamo looked at."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from graphlens.analysis import break_records, recompile_records
from graphlens.analysis.places import user_frame
from graphlens.model import (
    Compilation,
    Frame,
    Recompile,
    SourceLocation,
    TraceRecord,
    Unavailable,
)

_LIMIT = "recompile limit"
_SKIP_ERRORS = ("SkipFrame", "SkipCodeRecursiveException")
_WORST_FIRST = ("failed", "skipped", "recompile_limit", "compiled", "no_graph", "unfinished")


def collect_frames(records: Sequence[TraceRecord]) -> tuple[Frame, ...]:
    """One frame for each function, with its compilations in order."""
    by_id = by_compilation(records)
    frames: dict[str, list[tuple[SourceLocation, Compilation]]] = defaultdict(list)
    for compile_id, own in by_id.items():
        frames[_frame_id(compile_id)].append((_location(own), _compilation(compile_id, own)))
    return tuple(_frame(frame_id, found) for frame_id, found in frames.items())


def collect_recompiles(records: Sequence[TraceRecord]) -> tuple[Recompile, ...]:
    """Every recompile that compiled something, in order.

    At the recompile limit torch logs the reasons too, but compiles nothing: that is an outcome
    of the frame, not a recompile.
    """
    result = []
    starts = _starts(records)
    for compile_id, own in by_compilation(records).items():
        reasons = [r for r in own if r.kind == recompile_records.KIND]
        if not reasons or _outcome(own)[0] == "recompile_limit":
            continue
        location = starts.get(_frame_id(compile_id)) or SourceLocation(file="", line=0)
        result.append(
            Recompile(
                frame=_frame_id(compile_id),
                function=location.function,
                file=location.file,
                line=location.line,
                compile_id=compile_id,
                causes=recompile_records.parse_causes(reasons[-1], location.file),
            )
        )
    return tuple(result)


def by_compilation(records: Iterable[TraceRecord]) -> dict[str, list[TraceRecord]]:
    """Records by compile id, in the order the ids first came."""
    result: dict[str, list[TraceRecord]] = {}
    for record in records:
        if record.compile_id:
            result.setdefault(record.compile_id, []).append(record)
    return result


def start_of(records: Iterable[TraceRecord]) -> SourceLocation | None:
    """First line of the function that the records of one compilation are about."""
    for record in records:
        if record.kind == "dynamo_start" and record.data.get("stack"):
            return _source(record.data["stack"][-1])
    return None


def _frame_id(compile_id: str) -> str:
    return compile_id.rpartition("/")[0] or compile_id


def _starts(records: Iterable[TraceRecord]) -> dict[str, SourceLocation]:
    result: dict[str, SourceLocation] = {}
    for compile_id, own in by_compilation(records).items():
        found = start_of(own)
        if found:
            result.setdefault(_frame_id(compile_id), found)
    return result


def _location(records: list[TraceRecord]) -> SourceLocation:
    return start_of(records) or SourceLocation(file="", line=0)


def _frame(frame_id: str, found: list[tuple[SourceLocation, Compilation]]) -> Frame:
    location = next((place for place, _ in found if place.file), found[0][0])
    compilations = tuple(compilation for _, compilation in found)
    worst = min(compilations, key=lambda c: _WORST_FIRST.index(c.outcome))
    return Frame(
        id=frame_id,
        function=location.function,
        file=location.file,
        line=location.line,
        outcome=worst.outcome,
        reason=worst.reason,
        compilations=compilations,
    )


def _compilation(compile_id: str, records: list[TraceRecord]) -> Compilation:
    metrics = _metrics(records)
    outcome, reason = _outcome(records)
    return Compilation(
        compile_id=compile_id,
        outcome=outcome,
        reason=reason,
        seconds=_number(metrics, "entire_frame_compile_time_s"),
        backend_seconds=_number(metrics, "backend_compile_time_s"),
        operators=_count(metrics, "graph_op_count"),
        guards=_count(metrics, "guard_count"),
        restarts=tuple(str(reason) for reason in metrics.get("restart_reasons") or ()),
        called_from=_called_from(records),
    )


def _outcome(records: list[TraceRecord]) -> tuple[str, str]:
    """What became of a compilation, and why.

    A frame that Dynamo gives up has a failure in its metrics and a break record that says the
    function is skipped; the same failure without that record went to the user as an error.
    """
    kinds = {record.kind for record in records}
    metrics = _metrics(records)
    failure = str(metrics.get("fail_reason") or "")
    if _LIMIT in failure.partition("\n")[0]:
        return "recompile_limit", failure
    if metrics.get("fail_type"):
        skipped = any(
            break_records.is_graph_break(record)
            and break_records.parse_break(record).consequence == "frame_skipped"
            for record in records
        )
        skipped = skipped or str(metrics["fail_type"]) in (
            "SkipFrame",
            "SkipCodeRecursiveException",
        )
        return ("skipped" if skipped else "failed"), failure
    if "dynamo_output_graph" in kinds:
        return "compiled", ""
    return ("no_graph" if metrics else "unfinished"), ""


def _metrics(records: Iterable[TraceRecord]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        if record.kind == "compilation_metrics":
            found = record.data
    return found


def _called_from(records: Iterable[TraceRecord]) -> SourceLocation | None:
    for record in records:
        if record.kind == "dynamo_start":
            stack = [_source(frame) for frame in record.data.get("stack", ())]
            return user_frame(stack[:-1]) if len(stack) > 1 else None
    return None


def _source(frame: dict[str, object]) -> SourceLocation:
    return SourceLocation(
        file=str(frame.get("filename", "")),
        line=int(str(frame.get("line", 0) or 0)),
        function=str(frame.get("name", "")),
        code=str(frame.get("loc", "") or ""),
    )


def _number(metrics: dict[str, Any], name: str) -> float | Unavailable:
    value = metrics.get(name)
    return float(value) if isinstance(value, (int, float)) else Unavailable("torch did not say")


def _count(metrics: dict[str, Any], name: str) -> int | Unavailable:
    value = metrics.get(name)
    return value if isinstance(value, int) else Unavailable("torch did not say")
