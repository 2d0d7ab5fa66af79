"""How much of a graph a diagram shows: everything, or repeats folded and modules closed."""

from dataclasses import dataclass

import msgspec

from graphlens.analysis.collapsed import collapsed, deeper, depths, leaves, unlike_others
from graphlens.analysis.diagram_data import Diagram
from graphlens.analysis.diagram_names import with_names
from graphlens.analysis.folded import folded
from graphlens.errors import UsageError

MANY_BOXES = 80
"""Of more than that, modules that call no other are one box each."""
MOST_BOXES = 300
"""So many boxes can still be read on a page of columns; of more, outer modules are closed too."""

AUTO, LEAF, ALL = "auto", "leaf", "all"
OPERATORS, NODES = "operators", "nodes"


@dataclass(frozen=True, kw_only=True)
class View:
    """What is shown.

    Attributes:
        depth: How deep modules are opened: ``all``; ``leaf``, where a module that calls no other
            is one box; a number, 1 for only the outermost; ``auto`` for what can be read: ``all``
            up to `MANY_BOXES`, else ``leaf``, or the deepest that leaves at most `MOST_BOXES`.
        fold: Whether equal numbered blocks that follow one another are drawn once, as "×N".
        show: ``operators``: parameters, ``getitem`` and transposed weights are part of other
            boxes, and values with many users are named; ``nodes``: each node is a box, each use
            a line.
    """

    depth: int | str = AUTO
    fold: bool = True
    show: str = OPERATORS

    def __post_init__(self) -> None:
        number = isinstance(self.depth, int) and not isinstance(self.depth, bool)
        if self.depth not in (AUTO, LEAF, ALL) and not (number and int(self.depth) >= 1):
            raise UsageError(
                f"depth={self.depth!r}: give {AUTO!r}, {ALL!r}, {LEAF!r}, or a number from 1."
            )
        if self.show not in (OPERATORS, NODES):
            raise UsageError(f"show={self.show!r}: give {OPERATORS!r} or {NODES!r}.")

    @property
    def clean(self) -> bool:
        """Whether what is no work of the program's is part of other boxes."""
        return self.show == OPERATORS


DEFAULT_VIEW = View()


def viewed(whole: Diagram, view: View) -> Diagram:
    """What a view shows of a diagram that has all boxes and edges."""
    made = folded(whole) if view.fold else whole
    made = _at_depth(made, view.depth)
    return with_names(made) if view.clean else made


def _at_depth(diagram: Diagram, depth: int | str) -> Diagram:
    if depth == ALL or not diagram.clusters:
        return diagram
    if depth == LEAF:
        return collapsed(diagram, leaves(diagram))
    if depth != AUTO:
        return collapsed(diagram, deeper(diagram, int(depth)))
    if len(diagram.boxes) <= MANY_BOXES:
        return diagram
    tried = collapsed(diagram, leaves(diagram) | unlike_others(diagram))
    level = max(depths(tried), default=0)
    told = "Modules that call no other are one box each"
    while len(tried.boxes) > MOST_BOXES and level >= 1:
        tried = collapsed(diagram, deeper(diagram, level))
        told = f"Modules at depth {level} are one box each"
        level -= 1
    if len(tried.boxes) == len(diagram.boxes):
        return diagram
    more = f"{told}; depth='all' shows all {len(diagram.boxes):,} boxes."
    return msgspec.structs.replace(tried, hidden=more)
