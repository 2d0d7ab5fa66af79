"""A graph as boxes, edges and module clusters: what is drawn, whatever draws it.

The graph is cleaned on the way, and nothing is lost: parameters, buffers and constants become
rows in the boxes that use them, ``getitem`` becomes part of the operator it takes from, values
used all over the graph become rows that name them instead of lines, and every box lists the
nodes it stands for.
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from graphlens.analysis.diagram_data import Box, Diagram, Edge, Row
from graphlens.analysis.diagram_names import limited
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
from graphlens.analysis.diagram_view import DEFAULT_VIEW, View, viewed
from graphlens.analysis.families import operator_family
from graphlens.analysis.module_clusters import Arrangement, arrange
from graphlens.analysis.operators import operator_label
from graphlens.analysis.text_width import shorten, shorten_middle
from graphlens.model import Graph, Node, Subgraph

_STATE_ROLES = ("parameter", "buffer", "constant")
_LONGEST_LABEL = 40
_BRIEF = 3
_TRANSPOSE = "torch.ops.aten.t.default"
_COPY = ("torch.ops.aten.copy_.default", "torch.ops.aten.copy.default")
_GETITEM = ("_operator.getitem", "operator.getitem")


@dataclass
class _Draft:
    """A box in the making."""

    nodes: list[Node]
    state: dict[str, Node] = field(default_factory=dict)
    inputs: dict[int, None] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    returned: str = ""


def diagrams(graph: Graph, view: View = DEFAULT_VIEW) -> tuple[Diagram, ...]:
    """The graph's picture, followed by one for each body of a higher-order operator."""
    bodies = (diagram(graph, view, subgraph) for subgraph in graph.subgraphs)
    return (diagram(graph, view), *bodies)


def diagram(graph: Graph, view: View = DEFAULT_VIEW, subgraph: Subgraph | None = None) -> Diagram:
    """One picture.

    Args:
        graph: What it belongs to.
        view: How much of it is shown.
        subgraph: The body that is drawn; None for the graph itself.
    """
    return viewed(whole_diagram(graph, subgraph, cleaned=view.clean), view)


def whole_diagram(graph: Graph, subgraph: Subgraph | None = None, cleaned: bool = True) -> Diagram:
    """All boxes, and an edge for each use of a value.

    Args:
        graph: What it belongs to.
        subgraph: The body that is drawn; None for the graph itself.
        cleaned: Whether parameters, ``getitem`` and the like are part of other boxes.
    """
    nodes = graph.nodes if subgraph is None else subgraph.nodes
    bodies = {body.name for body in graph.subgraphs}
    drafts = _drafts(nodes, bodies) if cleaned else _plain_drafts(nodes)
    arrangement = arrange(
        [_module_path(draft.nodes[0]) for draft in drafts],
        [list(draft.inputs) for draft in drafts],
    )
    position = arrangement.position
    edges = sorted(
        (position[source], position[user])
        for user, draft in enumerate(drafts)
        for source in draft.inputs
    )
    operators = sum(node.is_operator for node in nodes)
    ended = "" if subgraph else graph.ended_by
    return Diagram(
        title=title_text(graph, operators, subgraph.name if subgraph else ""),
        boxes=tuple(_box(drafts[draft], arrangement, draft, ended) for draft in arrangement.order),
        edges=tuple(Edge(source=source, target=target) for source, target in edges),
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
        written = _written(node, state, owner)
        if written is not None:
            owner[node.name] = written
            drafts[written].nodes.append(node)
            drafts[written].writes.append(state_name(state[node.inputs[0]][0]))
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


def _written(
    node: Node, state: Mapping[str, Sequence[Node]], owner: Mapping[str, int]
) -> int | None:
    """The box whose value a node only copies into a buffer or parameter, as AOTAutograd does."""
    if node.target not in _COPY or len(node.inputs) != 2 or node.inputs[0] not in state:
        return None
    return owner.get(node.inputs[1])


def _plain_drafts(nodes: Sequence[Node]) -> list[_Draft]:
    """A box for each node."""
    owner = {node.name: number for number, node in enumerate(nodes)}
    return [
        _Draft([node], inputs={owner[name]: None for name in node.inputs if name in owner})
        for node in nodes
    ]


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


def _box(draft: _Draft, arrangement: Arrangement, number: int, ended: str) -> Box:
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
        rows=(*_state_rows(draft), *_written_rows(draft), *_end_rows(node, ended)),
        nodes=tuple(part.name for part in everything),
        details=(*detail_lines(node), *_brief([*draft.nodes[1:], *draft.state.values()])),
        cluster=arrangement.cluster[number],
        path=arrangement.whole.get(number, ""),
        operators=sum(part.is_operator for part in draft.nodes),
        parameters=sum(_numbers(part) for part in draft.state.values()),
    )


def _brief(nodes: Sequence[Node]) -> list[str]:
    lines = [brief_line(node) for node in nodes[:_BRIEF]]
    more = len(nodes) - _BRIEF
    return [*lines, f"and {more} more"] if more > 0 else lines


def _numbers(node: Node) -> int:
    """How many numbers a parameter has; 0 for all else, and where a size is not a number."""
    sizes = node.shape if node.role == "parameter" and node.shape is not None else ("",)
    return math.prod(size if isinstance(size, int) else 0 for size in sizes)


def _written_rows(draft: _Draft) -> list[Row]:
    names = shorten(", ".join(draft.writes), _LONGEST_LABEL)
    return [Row(kind="to", text=f"writes {names}")] if names else []


def _end_rows(node: Node, ended: str) -> list[Row]:
    """Where a graph ends with a break, its output says so."""
    if node.op != "output" or not ended:
        return []
    return [Row(kind="to", text=f"graph break: {shorten(ended, _LONGEST_LABEL)}")]


def _state_rows(draft: _Draft) -> tuple[Row, ...]:
    transposed = {n.inputs[0] for n in draft.state.values() if n.target == _TRANSPOSE}
    parts = [node for node in draft.state.values() if node.target != _TRANSPOSE]
    texts = state_texts((part, "transposed" if part.name in transposed else "") for part in parts)
    if draft.nodes[0].op == "output" and len(texts) > 1:
        texts = [f"{len(parts)} parameters and buffers"]
    return limited([Row(kind="state", text=text) for text in texts])
