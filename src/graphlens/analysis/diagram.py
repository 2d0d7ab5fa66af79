"""A graph as boxes, edges and module clusters: what is drawn, whatever draws it.

The graph is cleaned on the way, and nothing is lost: parameters, buffers and constants become
rows in the boxes that use them, ``getitem`` becomes part of the operator it takes from, values
used all over the graph become rows that name them instead of lines, and every box lists the
nodes it stands for.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from graphlens.analysis.diagram_data import Box, Cluster, Diagram, Edge, Row
from graphlens.analysis.diagram_text import (
    brief_line,
    detail_lines,
    input_text,
    place_text,
    state_name,
    state_texts,
    title_text,
    value_text,
)
from graphlens.analysis.families import operator_family
from graphlens.analysis.module_clusters import Arrangement, arrange
from graphlens.analysis.operators import operator_label
from graphlens.analysis.text_width import shorten_middle
from graphlens.model import Graph, Node

__all__ = ["Box", "Cluster", "Diagram", "Edge", "Row", "diagram", "diagrams"]

HUB_USERS = 8
"""A value with so many users is named at each of them; lines to all would hide the rest."""
OUTPUT_LINES = 6
"""An output of more values is named at their producers instead of connected to them."""
FAR = 250
"""An edge that skips so many boxes is named at both ends."""
_STATE_ROLES = ("parameter", "buffer", "constant")
_SHOWN_ROWS = 8
_LONGEST_LABEL = 40
_TRANSPOSE = "torch.ops.aten.t.default"
_GETITEM = ("_operator.getitem", "operator.getitem")


@dataclass
class _Draft:
    """A box in the making."""

    nodes: list[Node]
    state: dict[str, Node] = field(default_factory=dict)
    inputs: dict[int, None] = field(default_factory=dict)
    returned: str = ""


def diagrams(graph: Graph) -> tuple[Diagram, ...]:
    """The graph's picture, followed by one for each body of a higher-order operator."""
    bodies = (diagram(graph, subgraph.nodes, subgraph.name) for subgraph in graph.subgraphs)
    return (diagram(graph), *bodies)


def diagram(graph: Graph, nodes: Sequence[Node] | None = None, subgraph: str = "") -> Diagram:
    """One picture.

    Args:
        graph: What it belongs to.
        nodes: What is drawn: a subgraph's nodes, or None for the graph's own.
        subgraph: The subgraph's name.
    """
    nodes = graph.nodes if nodes is None else nodes
    drafts = _drafts(nodes, {body.name for body in graph.subgraphs})
    arrangement = arrange(
        [_module_path(draft.nodes[0]) for draft in drafts],
        [list(draft.inputs) for draft in drafts],
    )
    edges, rows = _lines(drafts, arrangement)
    operators = sum(node.is_operator for node in nodes)
    return Diagram(
        title=title_text(graph, operators, subgraph),
        boxes=tuple(
            _box(drafts[draft], rows.get(draft, []), arrangement, draft)
            for draft in arrangement.order
        ),
        edges=edges,
        clusters=arrangement.clusters,
        operators=operators,
        nodes=len(nodes),
    )


def _module_path(node: Node) -> tuple[tuple[str, str], ...]:
    # Inputs and outputs are the graph's; torch files placeholders under their first user.
    if not node.is_operator:
        return ()
    return tuple((call.path, call.type) for call in node.modules if call.path)


def _drafts(nodes: Sequence[Node], bodies: Set[str]) -> list[_Draft]:
    by_name = {node.name: node for node in nodes}
    used = {name for node in nodes for name in node.inputs}
    state = {n.name: [n] for n in nodes if n.name in used and _is_row(n, bodies)}
    for node in nodes:  # a transposed weight is still that weight
        if node.target == _TRANSPOSE and node.name in used:
            of = [state[name] for name in node.inputs if name in state]
            if len(of) == 1 and len(of[0]) == 1:
                state[node.name] = [node, *of[0]]
    drafts: list[_Draft] = []
    owner: dict[str, int] = {}
    for node in nodes:
        if node.name in state:
            continue
        producer = owner.get(node.inputs[0]) if node.inputs else None
        if producer is not None and _is_item(node, by_name[node.inputs[0]]):
            owner[node.name] = producer
            drafts[producer].nodes.append(node)
            continue
        draft = _Draft([node])
        for name in node.inputs:
            if name in state:
                draft.state |= {part.name: part for part in state[name]}
            elif name in owner:
                draft.inputs[owner[name]] = None
        if node.op == "output" and node.inputs and node.inputs[0] in by_name:
            draft.returned = value_text(by_name[node.inputs[0]])
        owner[node.name] = len(drafts)
        drafts.append(draft)
    return drafts


def _is_row(node: Node, bodies: Set[str]) -> bool:
    if node.op == "get_attr":
        return node.role in _STATE_ROLES or node.target in bodies or node.name in bodies
    return node.op == "placeholder" and node.role in _STATE_ROLES


def _is_item(node: Node, producer: Node) -> bool:
    """Whether a node takes one value out of a tuple; indexing a tensor is real work."""
    if node.target not in _GETITEM or len(node.inputs) != 1:
        return False
    # A tuple of one tensor shows as that tensor, and so does its only item.
    return len(producer.tensors) != 1 or node.tensors == producer.tensors


def _lines(
    drafts: Sequence[_Draft], arrangement: Arrangement
) -> tuple[tuple[Edge, ...], dict[int, list[Row]]]:
    """Which uses are drawn as lines, and the rows that stand for the others."""
    users: dict[int, list[int]] = {}
    for number, draft in enumerate(drafts):
        for source in draft.inputs:
            users.setdefault(source, []).append(number)
    position = arrangement.position
    crowded = {
        number
        for number, draft in enumerate(drafts)
        if draft.nodes[0].op == "output" and len(draft.inputs) > OUTPUT_LINES
    }
    edges: list[Edge] = []
    rows: dict[int, list[Row]] = {}
    for source in sorted(users, key=position.__getitem__):
        named = users[source]
        if len(named) < HUB_USERS:
            far = [user for user in named if position[user] - position[source] > FAR]
            named = [user for user in named if user in far or user in crowded]
        for user in sorted(users[source], key=position.__getitem__):
            if user not in named:
                edges.append(Edge(source=position[source], target=position[user]))
            elif user not in crowded:
                text = f"← {_short_name(drafts[source])}"
                rows.setdefault(user, []).append(Row(kind="from", text=text))
        if named:
            rows.setdefault(source, []).append(_users_row(drafts, named))
    return tuple(edges), rows


def _users_row(drafts: Sequence[_Draft], users: Sequence[int]) -> Row:
    name = _short_name(drafts[users[0]])
    return Row(kind="to", text=f"→ {name}" if len(users) == 1 else f"→ {len(users)} users")


def _short_name(draft: _Draft) -> str:
    return shorten_middle(draft.nodes[0].name, _LONGEST_LABEL)


def _box(draft: _Draft, rows: list[Row], arrangement: Arrangement, number: int) -> Box:
    node = draft.nodes[0]
    label, caption = operator_label(node), arrangement.captions.get(number, "")
    value = value_text(node)
    if node.op == "placeholder":
        label, caption = node.role or "input", input_text(node)
        value = "" if value == caption else value
    elif node.op == "output":
        value = f"{len(node.inputs)} values" if len(node.inputs) != 1 else draft.returned
    elif node.op == "get_attr":
        caption = state_name(node)
    everything = [*draft.nodes, *draft.state.values()]
    return Box(
        name=node.name,
        family=operator_family(node),
        label=shorten_middle(label, _LONGEST_LABEL),
        caption=caption,
        value=value,
        place=place_text(node.source) if node.is_operator else "",
        rows=(*_state_rows(draft), *_limited(rows)),
        nodes=tuple(part.name for part in everything),
        details=(
            *(line for part in draft.nodes for line in detail_lines(part)),
            *(brief_line(part) for part in draft.state.values()),
        ),
        cluster=arrangement.cluster[number],
    )


def _state_rows(draft: _Draft) -> tuple[Row, ...]:
    transposed = {n.inputs[0] for n in draft.state.values() if n.target == _TRANSPOSE}
    parts = [node for node in draft.state.values() if node.target != _TRANSPOSE]
    texts = state_texts((part, "transposed" if part.name in transposed else "") for part in parts)
    if draft.nodes[0].op == "output" and len(texts) > 1:
        texts = [f"{len(parts)} parameters and buffers"]
    return _limited([Row(kind="state", text=text) for text in texts])


def _limited(rows: list[Row]) -> tuple[Row, ...]:
    if len(rows) <= _SHOWN_ROWS:
        return tuple(rows)
    more = Row(kind=rows[0].kind, text=f"and {len(rows) - _SHOWN_ROWS + 1} more")
    return (*rows[: _SHOWN_ROWS - 1], more)
