"""What trying a fix showed, from the reports with and without it."""

from collections.abc import Iterable

from graphlens.analysis.report_parts import breaks_of, recompiles_of
from graphlens.model import Counts, GraphBreak, Report, Trial


def counts(report: Report) -> Counts:
    """A report in numbers; what is not known counts as none."""
    return Counts(
        breaks=len(breaks_of(report)),
        graphs=sum(g.stage == "dynamo" and not g.discarded for g in report.graphs),
        recompiles=len(recompiles_of(report)),
        eager_frames=sum(f.outcome in ("skipped", "recompile_limit") for f in report.frames),
    )


def break_trial(found: GraphBreak, before: Report, after: Report) -> Trial:
    """Whether a break is gone, and nothing came in its place.

    Behind a break for which a whole function ran eager others can come to light: fewer functions
    that run eager count for more than fewer breaks.
    """
    first, second = counts(before), counts(after)
    # Of several lines with the same text in a function one less, since each is tried alone.
    left = [
        sum(_is_same(found, other) for other in breaks_of(report)) for report in (before, after)
    ]
    gone = left[1] == 0 or left[1] < left[0]
    better = (second.eager_frames, second.breaks) < (first.eager_frames, first.breaks)
    return Trial(before=first, after=second, helps=gone and better)


def recompile_trial(before: Report, after: Report) -> Trial:
    """Whether there are fewer recompiles, and no more breaks."""
    first, second = counts(before), counts(after)
    better = (second.eager_frames, second.recompiles) < (first.eager_frames, first.recompiles)
    return Trial(before=first, after=second, helps=better and second.breaks <= first.breaks)


def together(before: Report, after: Report) -> Trial:
    """All advice at once."""
    first, second = counts(before), counts(after)
    cost_before = (first.eager_frames, first.breaks, first.recompiles)
    cost_after = (second.eager_frames, second.breaks, second.recompiles)
    return Trial(before=first, after=second, helps=cost_after < cost_before)


def in_words(trial: Trial) -> str:
    """Such as ``3 breaks → 0, 4 graphs → 1``; only what changed."""
    pairs = (
        ("break", trial.before.breaks, trial.after.breaks),
        ("graph", trial.before.graphs, trial.after.graphs),
        ("recompile", trial.before.recompiles, trial.after.recompiles),
        ("eager function", trial.before.eager_frames, trial.after.eager_frames),
    )
    return ", ".join(_pairs(pairs)) or "nothing changed"


def _pairs(pairs: Iterable[tuple[str, int, int]]) -> Iterable[str]:
    for noun, before, after in pairs:
        if before != after:
            yield f"{before} {noun}{'' if before == 1 else 's'} → {after}"


def _is_same(found: GraphBreak, other: GraphBreak) -> bool:
    """By text and not by number of the line, since a rewrite moves lines."""
    return (found.file, found.function, found.code, found.kind) == (
        other.file,
        other.function,
        other.code,
        other.kind,
    )


def is_same(one: Report, other: Report) -> bool:
    """Whether two captures of the same found the same."""
    lines = [
        [(found.file, found.line, found.kind, found.consequence) for found in breaks_of(report)]
        for report in (one, other)
    ]
    return lines[0] == lines[1] and counts(one) == counts(other)
