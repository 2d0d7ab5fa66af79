"""Scripts that reproduce divergences, written to a folder."""

import re
from collections.abc import Mapping
from pathlib import Path

import torch

from graphlens.checks.compare_options import CompareOptions
from graphlens.checks.graph_accuracy import comparer
from graphlens.checks.graph_calls import WatchedGraph
from graphlens.checks.repro import write_repro
from graphlens.model import Accuracy, Note, Unavailable


def save_repros(
    graphs: Mapping[str, WatchedGraph],
    accuracies: Mapping[str, Accuracy],
    options: CompareOptions,
) -> list[Note]:
    """Writes a script for each graph that diverges, and says where, or why there is none.

    Args:
        graphs: By compile id.
        accuracies: Of them.
        options: Of the comparison; ``repro`` is the folder.
    """
    return [
        _save(graphs[name], accuracy, options)
        for name, accuracy in accuracies.items()
        if accuracy.verdict == "diverges"
    ]


def _save(watched: WatchedGraph, accuracy: Accuracy, options: CompareOptions) -> Note:
    name = watched.graph.compile_id
    stem = "graph_" + re.sub(r"\W+", "_", name).strip("_")
    path = Path(options.repro).absolute() / f"{stem}.py"
    try:
        made = write_repro(
            watched,
            accuracy,
            options.inner,
            options.inner_keywords,
            comparer(options),
            f"{stem}.pt",
        )
        if isinstance(made, Unavailable):
            return _missing(name, made.reason)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made.text, encoding="utf-8")
        if made.data is not None:
            torch.save(made.data, path.with_suffix(".pt"))
    except Exception as error:  # noqa: BLE001  the comparison stands without a script
        return _missing(name, f"{type(error).__name__}: {error}")
    return Note(
        code="repro",
        message=f"A script shows the divergence of graph {name}: {path}",
        hint=f"Run it with: python {path}",
    )


def _missing(name: str, reason: str) -> Note:
    return Note(
        code="no-repro", message=f"No script reproduces the divergence of graph {name}: {reason}."
    )
