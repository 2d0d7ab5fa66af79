"""The map of a program: its functions, their graphs, and the breaks between them, in order."""

from collections.abc import Iterable

from graphlens.analysis.program_costs import Costs
from graphlens.analysis.program_functions import EAGER, FunctionsOfReport, all_frames, rank
from graphlens.analysis.program_map_data import MapFunction, ProgramMap
from graphlens.model import Report

MOST_FUNCTIONS = 24


def program_map(report: Report, most: int = MOST_FUNCTIONS) -> ProgramMap:
    """The map of a report.

    Args:
        report: Of any kind; times are there where ``compare`` made it.
        most: Functions shown in full; those with most to say are chosen.
    """
    frames = all_frames(report)
    costs = Costs(report)
    builder = FunctionsOfReport(report, frames, costs)
    found = builder.functions()
    worth = [one for one in found if _is_worth_showing(one)]
    ranked = sorted(worth, key=_weight, reverse=True)
    chosen = {id(one) for one in ranked[:most]}
    return ProgramMap(
        functions=tuple(one for one in found if id(one) in chosen),
        others=tuple(one for one in found if id(one) not in chosen),
        step=costs.step,
        elsewhere=costs.elsewhere(builder.charged),
    )


def _is_worth_showing(one: MapFunction) -> bool:
    """Whether there is more to say of a function than its name.

    What torch looked at in libraries and found no graph in is the way to a break that the user's
    own function shows.
    """
    if one.graphs or one.outcome == "failed":
        return True
    return not one.library and (one.outcome in EAGER or bool(one.breaks))


def _weight(one: MapFunction) -> tuple[float, bool, int, int]:
    nodes = sum(len(g.operators) for part in one.parts for v in part.variants for g in v.graphs)
    return _share(one), one.outcome in EAGER, one.breaks + one.recompiles, nodes


def _share(one: MapFunction) -> float:
    of_parts = (
        v.cost.share + v.backward_cost.share + sum(b.share for b in part.breaks)
        for part in one.parts
        for v in part.variants[:1]
    )
    return sum(of_parts)


def by_outcome(functions: Iterable[MapFunction]) -> dict[str, list[MapFunction]]:
    """Functions by outcome, the worst first."""
    found: dict[str, list[MapFunction]] = {}
    for one in sorted(functions, key=lambda one: rank(one.outcome)):
        found.setdefault(one.outcome, []).append(one)
    return found
