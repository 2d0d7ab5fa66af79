"""Prints a digest of every diagram of the kept graphs; the same on every Python and machine.

    python tools/same_bytes.py            one line a graph
    make same-bytes                       on Python 3.10 and 3.13, and with other hash seeds

It needs no torch: the graphs are those that ``tools/graph_fixtures.py`` keeps.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from drawn_graphs import MODELS, graphs_of  # noqa: E402  found by the line above
from graphlens import registry  # noqa: E402

FORMATS = ("svg", "dot", "mermaid", "tree", "model_explorer")


def lines() -> Iterator[str]:
    """A line a graph and format."""
    for file in (*MODELS, "cases"):
        for name, graphs in sorted(graphs_of(file).items()):
            for number, graph in enumerate(graphs):
                for kind in FORMATS:
                    text = registry.renderer(kind).graph(graph).encode("utf-8", "backslashreplace")
                    digest = hashlib.sha256(text).hexdigest()[:16]
                    yield f"{name} {number} {graph.id} {kind} {len(text)} {digest}"


if __name__ == "__main__":
    for line in lines():
        print(line)
