"""The numbers of a report, in words."""

from graphlens.model import Report, Unavailable


def plural(count: int, noun: str) -> str:
    """``1 graph``, ``2 graphs``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def one_line(report: Report) -> str:
    """Graphs, breaks, eager frames and recompiles of a report, in one line."""
    graphs = sum(graph.stage == "dynamo" and not graph.discarded for graph in report.graphs)
    parts = [plural(graphs, "graph")]
    if isinstance(report.breaks, Unavailable):
        parts.append("graph breaks unknown")
    else:
        parts.append(plural(len(report.breaks), "graph break"))
    eager = sum(frame.outcome in ("skipped", "recompile_limit") for frame in report.frames)
    if eager:
        parts.append(plural(eager, "frame") + " left to eager")
    if isinstance(report.recompiles, Unavailable):
        parts.append("recompiles unknown")
    else:
        parts.append(plural(len(report.recompiles), "recompile"))
    return ", ".join(parts)
