"""Breaks as torch's trace tells them, made complete: cause, reason, advice."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from graphlens.analysis.break_advice import with_advice
from graphlens.analysis.break_reasons import with_reason
from graphlens.analysis.crossed_values import resumed_function
from graphlens.analysis.places import is_library
from graphlens.analysis.source_code import ReadLines, SourceFiles
from graphlens.model import Frame, GraphBreak, SourceLocation


def with_causes(
    breaks: Sequence[GraphBreak],
    read: ReadLines,
    roots: Mapping[str, SourceLocation],
    skipped: Collection[str] = (),
) -> tuple[GraphBreak, ...]:
    """Breaks with cause, trigger, reason, excerpt, advice and fixes.

    Args:
        breaks: Of a run.
        read: Gives the lines of a source file; none where it is not at hand, as for a log that
            was written elsewhere. Causes then come from torch's words alone.
        roots: First line of the compiled function, by compile id.
        skipped: Ids of the compilations that torch gave up on.
    """
    files = SourceFiles(read)

    def root(found: GraphBreak) -> SourceLocation | None:
        return next((roots[name] for name in found.compile_ids if name in roots), None)

    def given_up(found: GraphBreak) -> SourceLocation | None:
        """One break can be met in the user's function and again in a library's that it calls."""
        if found.consequence != "frame_skipped":
            return None
        ids = [name for name in found.compile_ids if name in skipped and name in roots]
        known = [roots[name] for name in ids]
        known.sort(key=lambda place: (is_library(place.file), not _is_in_stack(place, found)))
        return known[0] if known else None

    return tuple(
        with_advice(with_reason(one, files, root(one), given_up(one)), files) for one in breaks
    )


def _is_in_stack(root: SourceLocation, found: GraphBreak) -> bool:
    name = resumed_function(root.function)
    return any(
        (one.file, resumed_function(one.function)) == (root.file, name) for one in found.stack
    )


def with_error_causes(
    frames: Sequence[Frame], read: ReadLines, roots: Mapping[str, SourceLocation]
) -> tuple[Frame, ...]:
    """Frames with the break that was an error made complete, as other breaks are."""
    errors = [frame.error for frame in frames if frame.error is not None]
    complete = iter(with_causes(errors, read, roots))
    return tuple(
        frame if frame.error is None else msgspec.structs.replace(frame, error=next(complete))
        for frame in frames
    )
