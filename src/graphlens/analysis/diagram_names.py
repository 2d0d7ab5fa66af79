"""Values that are named at both ends, where lines to all their users would hide the rest."""

from collections.abc import Sequence

import msgspec

from graphlens.analysis.diagram_data import Box, Diagram, Edge, Row
from graphlens.analysis.families import MODULE, OUTPUT
from graphlens.analysis.text_width import shorten_middle

HUB_USERS = 8
"""A value with so many users is named at each of them; lines to all would hide the rest."""
OUTPUT_LINES = 6
"""An output of more values is named at their producers instead of connected to them."""
FAR = 250
"""An edge that skips so many boxes is named at both ends."""
SHOWN_ROWS = 8
_LONGEST_NAME = 40


def with_names(diagram: Diagram) -> Diagram:
    """The diagram with only those edges that are drawn as lines, and rows for the others."""
    users: dict[int, list[int]] = {}
    inputs: dict[int, int] = {}
    for edge in diagram.edges:
        users.setdefault(edge.source, []).append(edge.target)
        inputs[edge.target] = inputs.get(edge.target, 0) + 1
    crowded = {
        number
        for number, box in enumerate(diagram.boxes)
        if box.family == OUTPUT and inputs.get(number, 0) > OUTPUT_LINES
    }
    edges: list[Edge] = []
    rows: dict[int, list[Row]] = {}
    for source in sorted(users):
        named = users[source]
        if len(named) < HUB_USERS:
            named = [user for user in named if user - source > FAR or user in crowded]
        for user in sorted(users[source]):
            if user not in named:
                edges.append(Edge(source=source, target=user))
            elif user not in crowded:
                text = f"← {_short_name(diagram.boxes[source])}"
                rows.setdefault(user, []).append(Row(kind="from", text=text))
        if named:
            rows.setdefault(source, []).append(_users_row(diagram, named))
    boxes = list(diagram.boxes)
    for number, more in rows.items():
        box = boxes[number]
        boxes[number] = msgspec.structs.replace(box, rows=(*box.rows, *limited(more)))
    return msgspec.structs.replace(diagram, boxes=tuple(boxes), edges=tuple(edges))


def limited(rows: Sequence[Row]) -> tuple[Row, ...]:
    """As many rows as a box bears."""
    if len(rows) <= SHOWN_ROWS:
        return tuple(rows)
    more = Row(kind=rows[0].kind, text=f"and {len(rows) - SHOWN_ROWS + 1} more")
    return (*rows[: SHOWN_ROWS - 1], more)


def _users_row(diagram: Diagram, users: Sequence[int]) -> Row:
    name = _short_name(diagram.boxes[users[0]])
    return Row(kind="to", text=f"→ {name}" if len(users) == 1 else f"→ {len(users)} users")


def _short_name(box: Box) -> str:
    whole = box.family == MODULE and box.path
    return shorten_middle(whole or box.name, _LONGEST_NAME)
