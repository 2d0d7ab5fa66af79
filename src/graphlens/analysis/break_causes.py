"""Breaks as torch's trace tells them, made complete: cause, reason, advice."""

from collections.abc import Mapping, Sequence

from graphlens.analysis.break_advice import with_advice
from graphlens.analysis.break_reasons import with_reason
from graphlens.analysis.source_code import ReadLines, SourceFiles
from graphlens.model import GraphBreak, SourceLocation


def with_causes(
    breaks: Sequence[GraphBreak], read: ReadLines, roots: Mapping[str, SourceLocation]
) -> tuple[GraphBreak, ...]:
    """Breaks with cause, trigger, reason, excerpt, advice and fixes.

    Args:
        breaks: Of a run.
        read: Gives the lines of a source file; none where it is not at hand, as for a log that
            was written elsewhere. Causes then come from torch's words alone.
        roots: First line of the compiled function, by compile id.
    """
    files = SourceFiles(read)

    def root(found: GraphBreak) -> SourceLocation | None:
        return next((roots[name] for name in found.compile_ids if name in roots), None)

    return tuple(with_advice(with_reason(one, files, root(one)), files) for one in breaks)
