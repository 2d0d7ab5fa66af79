"""One row a graph and one row a frame: the short lists of a report."""

from collections.abc import Sequence

from graphlens.model import Frame, Graph, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.wording import graph_marks, location_text, seconds, shown_place

GRAPH_COLUMNS = (
    "graph",
    "function",
    "place",
    "ops",
    "inputs",
    "params",
    "backend",
    "compiled",
    "hits",
    "remarks",
)
FRAME_COLUMNS = (
    "frame",
    "function",
    "place",
    "outcome",
    "compilations",
    "time",
    "guards",
    "reason",
)
UNKNOWN = "?"
NUMBERS = frozenset(
    {"ops", "inputs", "params", "compiled", "hits", "compilations", "time", "guards"}
)


def graph_overview(graph: Graph, root: str = "") -> dict[str, str]:
    """A graph's row; ``?`` stands for a value that could not be had."""
    cells = {
        "graph": f"{graph.compile_id} {graph.stage}",
        "function": graph.function,
        "place": location_text(graph.source, root),
        "ops": f"{len(graph.operators):,}",
        "inputs": f"{len(graph.inputs):,}",
        "params": f"{len(graph.parameters):,}",
        "backend": _known(graph.inner_backend),
        "compiled": _seconds(graph.compile_seconds),
        "hits": _known(graph.hits),
        "remarks": "; ".join(graph_marks(graph)),
    }
    return {name: one_line(text) for name, text in cells.items()}


def graphs_overview(graphs: Sequence[Graph], root: str = "") -> list[dict[str, str]]:
    """A row a graph; the function is named once for all graphs of a compilation."""
    rows = [graph_overview(graph, root) for graph in graphs]
    for before, graph, row in zip(graphs, graphs[1:], rows[1:], strict=False):
        if (before.compile_id, before.function) == (graph.compile_id, graph.function):
            row.update(function="", place="")
    return rows


def frame_overview(frame: Frame, root: str = "") -> dict[str, str]:
    """A frame's row: its outcome and what all its compilations took."""
    times = [compilation.seconds for compilation in frame.compilations]
    known = [time for time in times if not isinstance(time, Unavailable)]
    guards = [compilation.guards for compilation in frame.compilations]
    counts = [count for count in guards if not isinstance(count, Unavailable)]
    cells = {
        "frame": frame.id,
        "function": frame.function,
        "place": shown_place(frame.file, frame.line, root),
        "outcome": frame.outcome.replace("_", " "),
        "compilations": f"{len(frame.compilations):,}",
        # A sum with a missing part would look like a measured whole.
        "time": seconds(sum(known)) if times and len(known) == len(times) else UNKNOWN,
        "guards": f"{sum(counts):,}" if guards and len(counts) == len(guards) else UNKNOWN,
        "reason": frame.reason.partition("\n")[0],
    }
    return {name: one_line(text) for name, text in cells.items()}


def _known(value: str | int | Unavailable) -> str:
    return UNKNOWN if isinstance(value, Unavailable) else str(value)


def _seconds(value: float | Unavailable) -> str:
    return UNKNOWN if isinstance(value, Unavailable) else seconds(value)
