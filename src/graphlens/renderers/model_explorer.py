"""Graphs as the JSON that Google's Model Explorer opens: every node, with modules as layers.

The format is that of its ``graph_builder.py``: nodes with a namespace, incoming edges by the
number of the source's output, attributes, and metadata for each output.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphlens.analysis.diagram_text import dtype_text, place_text, title_text
from graphlens.analysis.operators import operator_label
from graphlens.model import Graph, Node, Report, TensorSpec

_GETITEM = ("_operator.getitem", "operator.getitem")


@dataclass(frozen=True, kw_only=True)
class ModelExplorerRenderer:
    """Writes a collection of graphs; it takes no options, as the viewer folds by itself."""

    def graph(self, graph: Graph) -> str:
        """One graph, with the bodies of its higher-order operators."""
        return _collection(graph.compile_id, [graph])

    def report(self, report: Report) -> str:
        """Every graph of the report, lowered ones too."""
        return _collection("GraphLens", report.graphs)


def _collection(label: str, graphs: Sequence[Graph]) -> str:
    made = {"label": label, "graphs": [one for graph in graphs for one in _graphs(graph)]}
    # In ASCII: a lone surrogate in a name is an escape there, and no UTF-8.
    return json.dumps(made, indent=1) + "\n"


def _graphs(graph: Graph) -> Iterator[dict[str, Any]]:
    bodies = {body.name: f"{graph.id} {body.name}" for body in graph.subgraphs}
    title = title_text(graph, len(graph.operators))
    yield {
        "id": graph.id,
        "nodes": _nodes(graph.nodes, bodies),
        "groupNodeAttributes": {"": {"graph": title}},
    }
    for body in graph.subgraphs:
        yield {"id": bodies[body.name], "nodes": _nodes(body.nodes, bodies)}


def _nodes(nodes: Sequence[Node], bodies: dict[str, str]) -> list[dict[str, Any]]:
    by_name = {node.name: node for node in nodes}
    outputs = {node.name: _item(node) for node in nodes}
    return [
        {
            "id": node.name,
            "label": operator_label(node) if node.is_operator else node.role or node.op,
            "namespace": _namespace(node),
            "subgraphIds": [bodies[name] for name in node.args if name in bodies],
            "attrs": [{"key": key, "value": value} for key, value in _attributes(node)],
            "incomingEdges": [
                {
                    "sourceNodeId": name,
                    # An item taken out of a tuple is that output of the node that made it.
                    "sourceNodeOutputId": _output_id(node, by_name[name], outputs),
                    "targetNodeInputId": str(at),
                }
                for at, name in enumerate(node.inputs)
                if name in by_name
            ],
            "outputsMetadata": [
                {"id": str(at), "attrs": _tensor(tensor)} for at, tensor in enumerate(node.tensors)
            ],
        }
        for node in nodes
    ]


def _item(node: Node) -> str:
    return node.args[1] if node.target in _GETITEM and len(node.args) > 1 else ""


def _output_id(node: Node, source: Node, items: dict[str, str]) -> str:
    item = items[node.name]
    return item if item.isdigit() and int(item) < len(source.tensors) else "0"


def _namespace(node: Node) -> str:
    """Modules from the outermost in; a slash of a name would begin another layer."""
    if not node.is_operator:
        return ""
    parts, around = [], ""
    for call in node.modules:
        if call.path:
            own = call.path.removeprefix(f"{around}.") if around else call.path
            kind = call.type.rpartition(".")[2]
            parts.append(f"{own} ({kind})".replace("/", "∕") if kind else own.replace("/", "∕"))
            around = call.path
    return "/".join(parts)


def _attributes(node: Node) -> Iterator[tuple[str, str]]:
    yield "op", node.op
    yield "target", node.target
    for at, text in enumerate(node.args):
        yield f"argument {at}", text
    yield from node.kwargs
    if node.origin:
        yield "origin", node.origin
    if node.source is not None:
        yield "line", f"{place_text(node.source)}  {node.source.code}".rstrip()


def _tensor(tensor: TensorSpec) -> list[dict[str, str]]:
    sizes = "x".join(map(str, tensor.shape))
    return [
        {"key": "tensor_shape", "value": f"{dtype_text(tensor.dtype)}[{sizes}]"},
        {"key": "stride", "value": ", ".join(map(str, tensor.stride or ()))},
    ]
