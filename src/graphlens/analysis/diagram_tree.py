"""What is directly in each cluster of a diagram."""

from graphlens.analysis.diagram_data import Diagram

ROOT = -1

Member = tuple[bool, int]
"""A box (True) or a cluster (False) by its index."""


def members(diagram: Diagram) -> dict[int, list[Member]]:
    """Boxes and clusters directly in each cluster and at the root, in the order of the boxes."""
    found: dict[int, list[Member]] = {ROOT: []}
    found |= {index: [] for index in range(len(diagram.clusters))}
    seen: set[int] = set()
    for number, box in enumerate(diagram.boxes):
        found[box.cluster].append((True, number))
        inner = box.cluster
        while inner != ROOT and inner not in seen:
            seen.add(inner)
            around = diagram.clusters[inner].parent
            found[around].append((False, inner))
            inner = around
    return found


def spans(diagram: Diagram) -> list[range]:
    """The boxes of each cluster, those of the clusters in it included: they stand together."""
    first = [len(diagram.boxes)] * len(diagram.clusters)
    last = [0] * len(diagram.clusters)
    for number, box in enumerate(diagram.boxes):
        inner = box.cluster
        while inner != ROOT:
            first[inner] = min(first[inner], number)
            last[inner] = number + 1
            inner = diagram.clusters[inner].parent
    return [range(start, end) for start, end in zip(first, last, strict=True)]
