"""All findings of a report, in the order in which they are worth fixing.

Wrong results come first, then functions that fail, then what costs time: what runs eager by the
operators that are left out of graphs, then breaks by how often the program ran through them, then
graphs that are slower compiled; where a timed run says what of a step each of them costs, by that.
Then come changes of precision, recompiles by their number, what could not be compared, and last
what is meant to be as it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from graphlens.analysis.report_parts import breaks_of, recompiles_of
from graphlens.model import GraphBreak, Recompile, Report
from graphlens.renderers.findings.finding import (
    BREAK,
    EAGER,
    FAILED,
    FRAME_KINDS,
    INTENDED,
    NEVER_PAYS,
    NOT_COMPARABLE,
    PRECISION,
    RECOMPILE,
    SLOWER,
    WRONG,
    Finding,
)
from graphlens.renderers.findings.of_accuracy import of_accuracy
from graphlens.renderers.findings.of_breaks import Functions, of_breaks
from graphlens.renderers.findings.of_frames import of_frame
from graphlens.renderers.findings.of_recompiles import of_recompiles
from graphlens.renderers.findings.of_timing import a_step, charged, of_timing

_COSTLY = (EAGER, BREAK, SLOWER)
_ORDER = (
    WRONG, FAILED, NEVER_PAYS, *_COSTLY, PRECISION, RECOMPILE, NOT_COMPARABLE, INTENDED,
)  # fmt: skip
_Line = tuple[str, int]


def findings(report: Report, root: str = "") -> tuple[Finding, ...]:
    """All findings of a report, most worth fixing first; files below ``root`` relative to it."""
    functions = Functions(report)
    charges = charged(report)
    found = [
        *of_accuracy(report, root),
        *_breaks(report, functions, charges, root),
        *_recompiles(report, root),
        *_frames(report, functions, charges, root),
        *of_timing(report, root),
    ]
    return tuple(sorted(found, key=lambda item: _rank(item, bool(charges))))


def _rank(item: Finding, timed: bool) -> tuple[int, float, int, float]:
    order = _ORDER.index(item.kind)
    first = _ORDER.index(_COSTLY[0]) if timed and item.kind in _COSTLY else order
    return first, -item.seconds, order, -item.weight


def _with_cost(found: Finding, lines: Iterable[_Line], charges: dict[_Line, float]) -> Finding:
    """A finding with what a timed run charges to its lines."""
    seconds = sum(charges.get(line, 0.0) for line in dict.fromkeys(lines))
    if not seconds:
        return found
    others = [found.cost] if found.cost and "unavailable" not in found.cost else []
    return replace(found, seconds=seconds, cost=", ".join([a_step(seconds), *others]))


def _breaks(
    report: Report, functions: Functions, charges: dict[_Line, float], root: str
) -> Iterator[Finding]:
    frames = {one.compile_id: frame for frame in report.frames for one in frame.compilations}
    by_line: dict[tuple[str, int], list[GraphBreak]] = {}
    for one in breaks_of(report):
        by_line.setdefault((one.file, one.line), []).append(one)
    for group in by_line.values():
        lines = [(one.file, one.line) for one in group]
        for one in group if charges else ():
            if functions.given_up(one):  # the time of an eager function is charged to its head
                known = [frames[name] for name in one.compile_ids if name in frames]
                lines += [(frame.file, frame.line) for frame in known]
        yield _with_cost(of_breaks(group, functions, root), lines, charges)


def _recompiles(report: Report, root: str) -> Iterator[Finding]:
    by_frame: dict[str, list[Recompile]] = {}
    for one in recompiles_of(report):
        by_frame.setdefault(one.frame, []).append(one)
    frames = {frame.id: frame for frame in report.frames}
    for name, group in by_frame.items():
        yield of_recompiles(group, frames.get(name), root)


def _frames(
    report: Report, functions: Functions, charges: dict[_Line, float], root: str
) -> Iterator[Finding]:
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
            found = of_frame(frame, failure, functions, root)
            yield _with_cost(found, [(frame.file, frame.line)], charges)
