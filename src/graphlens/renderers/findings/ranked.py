"""All findings of a report, in the order in which they are worth fixing.

Functions that fail come first, then what runs eager by the operators that are left out of graphs,
then breaks by how often the program ran through them, then recompiles by their number, and last
what is meant to be as it is.
"""

from collections.abc import Iterator

from graphlens.analysis.report_parts import breaks_of, recompiles_of
from graphlens.model import GraphBreak, Recompile, Report
from graphlens.renderers.findings.finding import (
    BREAK,
    EAGER,
    FAILED,
    FRAME_KINDS,
    INTENDED,
    RECOMPILE,
    Finding,
)
from graphlens.renderers.findings.of_breaks import Functions, of_breaks
from graphlens.renderers.findings.of_frames import of_frame
from graphlens.renderers.findings.of_recompiles import of_recompiles

_ORDER = (FAILED, EAGER, BREAK, RECOMPILE, INTENDED)


def findings(report: Report, root: str = "") -> tuple[Finding, ...]:
    """All findings of a report, most worth fixing first; files below ``root`` relative to it."""
    functions = Functions(report)
    found = [
        *_breaks(report, functions, root),
        *_recompiles(report, root),
        *_frames(report, functions, root),
    ]
    return tuple(sorted(found, key=lambda item: (_ORDER.index(item.kind), -item.weight)))


def _breaks(report: Report, functions: Functions, root: str) -> Iterator[Finding]:
    by_line: dict[tuple[str, int], list[GraphBreak]] = {}
    for one in breaks_of(report):
        by_line.setdefault((one.file, one.line), []).append(one)
    for group in by_line.values():
        yield of_breaks(group, functions, root)


def _recompiles(report: Report, root: str) -> Iterator[Finding]:
    by_frame: dict[str, list[Recompile]] = {}
    for one in recompiles_of(report):
        by_frame.setdefault(one.frame, []).append(one)
    frames = {frame.id: frame for frame in report.frames}
    for name, group in by_frame.items():
        yield of_recompiles(group, frames.get(name), root)


def _frames(report: Report, functions: Functions, root: str) -> Iterator[Finding]:
    """Frames that neither a break nor a recompile of the report speaks of already."""
    breaks = breaks_of(report)
    recompiles = recompiles_of(report)
    skipping = {
        name for one in breaks if one.consequence == "frame_skipped" for name in one.compile_ids
    }
    recompiled = {one.frame for one in recompiles}
    failures = {graph.compile_id: graph.failure for graph in report.graphs if graph.failure}
    for frame in report.frames:
        ids = {compilation.compile_id for compilation in frame.compilations}
        told = (frame.outcome == "skipped" and ids & skipping) or (
            frame.outcome == "recompile_limit" and frame.id in recompiled
        )
        if frame.outcome in FRAME_KINDS and not told:
            failure = next((failures[name] for name in ids if name in failures), None)
            yield of_frame(frame, failure, functions, root)
