"""The counts at the top of a page."""

from collections.abc import Iterator
from dataclasses import dataclass

from graphlens.analysis.report_parts import compared_graphs
from graphlens.model import Measured, Report, StepParts, Unavailable
from graphlens.renderers.findings import EAGER, FAILED
from graphlens.renderers.headline import frame_kinds
from graphlens.renderers.measures import direction, ratio, ratio_interval
from graphlens.renderers.wording import counted, kept_graphs


@dataclass(frozen=True)
class Tile:
    """One count.

    Attributes:
        value: The number, or ``?`` where it is not known.
        label: What is counted.
        detail: What more there is to say; may be empty.
        state: ``good``, ``bad``, ``neutral`` or ``unknown``.
    """

    value: str
    label: str
    detail: str = ""
    state: str = "neutral"


def tiles(report: Report) -> tuple[Tile, ...]:
    """Graphs, graph breaks, frames that ran eager, frames that failed, recompiles.

    Of a comparison also wrong graphs and the speed-up of the whole.
    """
    return (
        *_compared(report),
        _graphs(report),
        _breaks(report),
        *_frames(report),
        _recompiles(report),
    )


def _compared(report: Report) -> Iterator[Tile]:
    known = [accuracy.verdict for _, accuracy in compared_graphs(report)]
    if known:
        wrong = known.count("diverges")
        noun = _noun(wrong, "wrong graph")
        yield Tile(f"{wrong:,}", noun, f"of {len(known):,} compared", "bad" if wrong else "good")
    if isinstance(report.step, StepParts) and isinstance(report.step.speedup, Measured):
        speedup = report.step.speedup
        word = direction(speedup)
        state = {"faster": "good", "slower": "bad"}.get(word, "neutral")
        label = "no clear difference" if word == "unclear" else f"{word} end to end"
        yield Tile(ratio(speedup.median), label, ratio_interval(speedup), state)


def _graphs(report: Report) -> Tile:
    captured, lowered, discarded = kept_graphs(report)
    details = [f"{len(lowered):,} lowered"] if lowered else []
    details += [f"{len(discarded):,} discarded"] if discarded else []
    return Tile(f"{len(captured):,}", _noun(len(captured), "graph"), ", ".join(details))


def _breaks(report: Report) -> Tile:
    if isinstance(report.breaks, Unavailable):
        return Tile("?", "graph breaks", "not known", "unknown")
    places = {(item.file, item.line) for item in report.breaks}
    detail = f"at {counted(len(places), 'line')}" if report.breaks else ""
    count = len(report.breaks)
    return Tile(f"{count:,}", _noun(count, "graph break"), detail, "bad" if count else "good")


def _frames(report: Report) -> list[Tile]:
    kinds = frame_kinds(report)
    if kinds is None:
        return [Tile("?", "frames ran eager", "not known", "unknown")]
    eager, failed = kinds.count(EAGER), kinds.count(FAILED)
    result = [
        Tile(f"{eager:,}", _noun(eager, "frame") + " ran eager", "", "bad" if eager else "good")
    ]
    if failed:
        result.append(Tile(f"{failed:,}", _noun(failed, "frame") + " failed", "", "bad"))
    return result


def _recompiles(report: Report) -> Tile:
    if isinstance(report.recompiles, Unavailable):
        return Tile("?", "recompiles", "not known", "unknown")
    count = len(report.recompiles)
    frames = {item.frame for item in report.recompiles}
    detail = f"of {counted(len(frames), 'function')}" if count else ""
    return Tile(f"{count:,}", _noun(count, "recompile"), detail, "bad" if count else "good")


def _noun(count: int, noun: str) -> str:
    return noun if count == 1 else noun + "s"
