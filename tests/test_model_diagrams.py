"""Diagrams of six real models and of every graph of the cases."""

import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from drawn_graphs import MODELS, graphs_of, model_graphs
from golden_files import check_golden
from graphlens import registry
from graphlens.analysis.diagram import diagram, diagrams
from graphlens.analysis.diagram_view import View
from graphlens.analysis.layout import layout
from test_layout import check

TOOLS = Path(__file__).resolve().parent.parent / "tools"
SUFFIXES = {"svg": "svg", "dot": "dot", "mermaid": "mmd", "tree": "txt"}
sys.path.insert(0, str(TOOLS))

from same_bytes import lines

MODEL_GRAPHS = [
    pytest.param(graph, id=f"{model}-{stage}")
    for model in MODELS
    for stage, graph in model_graphs(model)
]
LARGEST = 60_000
"""Bytes of a folded picture."""


@pytest.mark.parametrize("kind", SUFFIXES)
@pytest.mark.parametrize("model", MODELS)
def test_golden(model, kind):
    for stage, graph in model_graphs(model):
        text = registry.renderer(kind).graph(graph)
        check_golden(f"models/{model}_{stage}.{SUFFIXES[kind]}", text)


@pytest.mark.parametrize("graph", MODEL_GRAPHS)
def test_a_folded_picture_is_small_and_nothing_in_it_overlaps(graph):
    start = time.perf_counter()
    text = registry.renderer("svg").graph(graph)
    print(f"{graph.stage}: {time.perf_counter() - start:.2f} s, {len(text.encode()):,} bytes")
    assert len(text.encode()) <= LARGEST
    for drawn in diagrams(graph):
        check(drawn, layout(drawn))


@pytest.mark.parametrize("model", MODELS)
def test_repeats_are_found(model):
    (dynamo,) = (graph for stage, graph in model_graphs(model) if stage == "dynamo")
    drawn = diagram(dynamo, View(depth="all"))
    layers = {"bert": 12, "gpt2": 12, "vit": 12, "llama32": 32, "llama110": 110, "resnet18": 2}
    assert max(cluster.repeats for cluster in drawn.clusters) == layers[model]
    whole = diagram(dynamo, View(depth="all", fold=False))
    lost = {n for box in whole.boxes for n in box.nodes} - {
        n for box in drawn.boxes for n in box.nodes
    }
    assert not lost


@pytest.mark.parametrize("name", sorted(graphs_of("cases")))
def test_diagrams_of_a_case(name):
    for graph in graphs_of("cases")[name]:
        for drawn in diagrams(graph):
            check(drawn, layout(drawn))


def test_diagrams_of_cases_are_as_they_were():
    """By digest; where one differs, draw it and look: ``tools/same_bytes.py`` says which."""
    found = [line for line in lines() if line.split()[0] not in MODELS]
    check_golden("cases_diagrams.txt", "\n".join(found) + "\n")


def test_another_hash_seed_gives_the_same_bytes():
    script = TOOLS / "same_bytes.py"
    made = [
        subprocess.run(
            [sys.executable, str(script)], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert all(one == other for one, other in pairwise(made))
    assert len(made[0].splitlines()) > 500
