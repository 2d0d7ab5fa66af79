"""Graphs of real models and of the cases, captured once by ``tools/graph_fixtures.py``."""

import gzip
from functools import cache
from pathlib import Path

import msgspec

from graphlens.model import Graph

FOLDER = Path(__file__).parent / "fixtures" / "graphs"
MODELS = ("resnet18", "bert", "gpt2", "vit", "llama32", "llama110")


@cache
def graphs_of(name: str) -> dict[str, tuple[Graph, ...]]:
    """Those in a file: of a model by its name, or of all cases by theirs."""
    data = gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes())
    return msgspec.json.decode(data, type=dict[str, tuple[Graph, ...]])


def model_graphs(name: str) -> list[tuple[str, Graph]]:
    """The graphs of a model, each with a name: what it is lowered to."""
    return [(graph.stage, graph) for graph in graphs_of(name)[name]]
