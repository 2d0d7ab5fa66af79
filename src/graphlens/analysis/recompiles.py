"""Recompiles from torch's trace, each as what changed since the compilation it comes nearest to."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from graphlens.analysis import recompile_records
from graphlens.analysis.compilations import CompilationKey, by_compilation, caller_of, start_of
from graphlens.analysis.crossed_values import RESUMED, crossed_values, resumed_function
from graphlens.analysis.guard_subjects import Speaker
from graphlens.analysis.guard_terms import GuardTerms
from graphlens.analysis.keyword_arguments import (
    given_keywords,
    with_keywords,
    with_unseen_keywords,
)
from graphlens.analysis.recompile_advice import History, with_advice
from graphlens.model import (
    Difference,
    Frame,
    GraphBreak,
    GuardFailure,
    Recompile,
    SourceLocation,
    TraceRecord,
)

# What makes calls more different than another size does.
_WEIGHTS = {
    **dict.fromkeys(("tensor_rank", "argument_type", "aliasing", "backend"), 4),
    **dict.fromkeys(("tensor_dtype", "tensor_device", "requires_grad", "global_state"), 3),
    **dict.fromkeys(("tensor_size", "tensor_stride"), 1),
}
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
    given = given_keywords(records)
    result = []
    for key, own in by_key.items():
        reasons = [r for r in own if r.kind == recompile_records.KIND]
        if reasons and not reached_limit(own):
            start = starts.get(key.frame, UNKNOWN)
            called_from = caller_of(own)
            speaker = (speakers or {}).get(key.frame, Speaker())
            one = _recompile(key, reasons[-1], start, called_from, speaker, given)
            result.append(with_keywords(one, given))
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
    histories = {frame: History.of(own) for frame, own in by_frame.items()}
    known = {frame.id: frame for frame in frames}
    compiled = {(frame.file, resumed_function(frame.function)) for frame in frames}
    return tuple(
        with_advice(
            _named(one, known.get(one.frame)),
            histories[one.frame],
            known.get(one.frame),
            entered=_is_entered(one, compiled),
        )
        for one in recompiles
    )


def _is_entered(one: Recompile, compiled: Container[tuple[str, str]]) -> bool:
    """Whether the user's own call, as far as is known, and no compiled code runs the frame."""
    caller = one.called_from
    return not RESUMED.match(one.function) and (
        caller is None or (caller.file, caller.function) not in compiled
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
                    positional=seen.get("positional") or "",
                    keywords=seen.get("keywords") or "",
                )
    return speakers


def _recompile(
    key: CompilationKey,
    record: TraceRecord,
    start: SourceLocation,
    called_from: SourceLocation | None,
    speaker: Speaker,
    given: Mapping[str, tuple[str, ...]],
) -> Recompile:
    seen = recompile_records.seen_by_entry(record)
    if speaker.keywords:
        seen = with_unseen_keywords(seen, given, key.compile_id, speaker)
    causes = recompile_records.parse_causes(record, start.file, speaker, seen)
    nearest, differences = _nearest(seen, causes, speaker)
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
    seen: Mapping[str, Sequence[GuardTerms]], causes: Sequence[GuardFailure], speaker: Speaker
) -> tuple[str, tuple[Difference, ...]]:
    """The compilation from which the call differs least, the newest of several.

    Torch lists only the first guard of each that failed; that has to do where nothing more
    was seen.
    """
    found = {failed: terms for failed, terms in seen.items() if terms}
    if found:
        nearest = min(found, key=lambda failed: _distance(found[failed]))
        return nearest, recompile_records.told_differences(found[nearest], speaker)
    first = next((cause for cause in causes if cause.subject), None)
    if first is None:
        return "", ()
    return first.failed, (
        Difference(subject=first.subject, before=first.expected, after=first.actual),
    )


def _distance(terms: Sequence[GuardTerms]) -> tuple[int, int]:
    return sum(_WEIGHTS.get(one.kind, 2) for one in terms), len(terms)


def _starts(by_key: dict[CompilationKey, list[TraceRecord]]) -> dict[str, SourceLocation]:
    result: dict[str, SourceLocation] = {}
    for key, own in by_key.items():
        found = start_of(own)
        if found:
            result.setdefault(key.frame, found)
    return result
