"""Recompiles from torch's trace, each as what changed since the compilation it comes nearest to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from graphlens.analysis import recompile_records
from graphlens.analysis.compilations import CompilationKey, by_compilation, caller_of, start_of
from graphlens.analysis.crossed_values import crossed_values
from graphlens.analysis.guard_subjects import Speaker
from graphlens.analysis.recompile_advice import with_advice
from graphlens.model import (
    Difference,
    Frame,
    GraphBreak,
    GuardFailure,
    Recompile,
    SourceLocation,
    TraceRecord,
)

UNKNOWN = SourceLocation(file="", line=0)


def collect_recompiles(
    records: Sequence[TraceRecord], speakers: Mapping[str, Speaker] | None = None
) -> tuple[Recompile, ...]:
    """Every compilation after a frame's first that torch set out on, in order.

    That is also one it gave up or that failed. At the recompile limit torch logs the reasons too,
    but does not try: that is an outcome of the frame, not a recompile.

    Args:
        records: Of torch's trace.
        speakers: Names of the values in each frame, by its number.
    """
    by_key = by_compilation(records)
    starts = _starts(by_key)
    result = []
    for key, own in by_key.items():
        reasons = [r for r in own if r.kind == recompile_records.KIND]
        if reasons and not reached_limit(own):
            start = starts.get(key.frame, UNKNOWN)
            called_from = caller_of(own)
            speaker = (speakers or {}).get(key.frame, Speaker())
            result.append(_recompile(key, reasons[-1], start, called_from, speaker))
    return tuple(result)


def reached_limit(records: Iterable[TraceRecord]) -> bool:
    """Whether torch refused a compilation because the frame has as many as it keeps."""
    failures = (
        str(record.data.get("fail_reason") or "")
        for record in records
        if record.kind == "compilation_metrics"
    )
    return any("recompile limit" in failure.partition("\n")[0] for failure in failures)


def with_recompile_advice(
    recompiles: Sequence[Recompile], frames: Sequence[Frame]
) -> tuple[Recompile, ...]:
    """Recompiles with what can be done about each, given what became of their frames.

    They take over the frames' names, which for a module of torch are the module's.
    """
    by_frame: dict[str, list[Recompile]] = {}
    for one in recompiles:
        by_frame.setdefault(one.frame, []).append(one)
    known = {frame.id: frame for frame in frames}
    return tuple(
        with_advice(_named(one, known.get(one.frame)), by_frame[one.frame], known.get(one.frame))
        for one in recompiles
    )


def _named(one: Recompile, frame: Frame | None) -> Recompile:
    if frame is None:
        return one
    return msgspec.structs.replace(one, function=frame.function, file=frame.file, line=frame.line)


def frame_speakers(
    records: Sequence[TraceRecord], breaks: Sequence[GraphBreak] = ()
) -> dict[str, Speaker]:
    """What is known of the names in each frame, by its number."""
    speakers: dict[str, Speaker] = {}
    for key, own in by_compilation(records).items():
        for record in own:
            if record.kind == "dynamo_start" and key.frame not in speakers:
                start = start_of(own) or UNKNOWN
                seen: dict[str, Any] = record.data.get("seen") or {}
                speakers[key.frame] = Speaker(
                    names=seen.get("names") or {},
                    arguments=seen.get("arguments") or (),
                    closure=seen.get("closure") or (),
                    crossed=crossed_values(start, breaks),
                )
    return speakers


def _recompile(
    key: CompilationKey,
    record: TraceRecord,
    start: SourceLocation,
    called_from: SourceLocation | None,
    speaker: Speaker,
) -> Recompile:
    causes = recompile_records.parse_causes(record, start.file, speaker)
    by_entry = recompile_records.differences_by_entry(record, speaker)
    nearest, differences = _nearest(by_entry, causes)
    return Recompile(
        frame=key.frame,
        function=start.function,
        file=start.file,
        line=start.line,
        compile_id=key.compile_id,
        causes=causes,
        nearest=nearest,
        differences=differences,
        called_from=called_from,
    )


def _nearest(
    by_entry: dict[str, tuple[Difference, ...]], causes: Sequence[GuardFailure]
) -> tuple[str, tuple[Difference, ...]]:
    """The compilation with the fewest guards that failed, the newest of several.

    Torch lists only the first guard of each that failed; that has to do where nothing more
    was seen.
    """
    found = {failed: differences for failed, differences in by_entry.items() if differences}
    if found:
        nearest = min(found, key=lambda failed: len(found[failed]))
        return nearest, found[nearest]
    first = next((cause for cause in causes if cause.subject), None)
    if first is None:
        return "", ()
    return first.failed, (
        Difference(subject=first.subject, before=first.expected, after=first.actual),
    )


def _starts(by_key: dict[CompilationKey, list[TraceRecord]]) -> dict[str, SourceLocation]:
    result: dict[str, SourceLocation] = {}
    for key, own in by_key.items():
        found = start_of(own)
        if found:
            result.setdefault(key.frame, found)
    return result
