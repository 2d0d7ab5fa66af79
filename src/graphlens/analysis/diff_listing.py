"""The nodes of two compared graphs in one order: the second's, with what was removed in between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphlens.model import Change, Node, PartDiff

SAME, ADDED, REMOVED, CHANGED = " ", "+", "-", "~"


@dataclass(frozen=True)
class Entry:
    """One line of the listing.

    Attributes:
        sign: One of SAME, ADDED, REMOVED and CHANGED.
        before: Nodes of the first graph: one, none, or those that are replaced.
        after: Nodes of the second graph that it is about.
        changes: In what a changed node differs; none where nodes are replaced.
    """

    sign: str
    before: tuple[Node, ...] = ()
    after: tuple[Node, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def node(self) -> Node:
        """The node that the line is filed under."""
        return (self.after or self.before)[0]


def entries(part: PartDiff, before: Sequence[Node], after: Sequence[Node]) -> list[Entry]:
    """Every node of both graphs, or bodies, once.

    Args:
        part: What was found.
        before: The first graph's nodes.
        after: The second's.
    """
    of_before: dict[str, Entry] = {}
    of_after: dict[str, Entry] = {}
    for entry in _entries(part):
        of_before |= {node.name: entry for node in entry.before}
        of_after |= {node.name: entry for node in entry.after}
    # A removed node stands after what stood before it.
    following: dict[int, list[Entry]] = {}
    anchor: Entry | None = None
    for node in before:
        entry = of_before[node.name]
        if entry.sign == REMOVED:
            following.setdefault(id(anchor), []).append(entry)
        else:
            anchor = entry
    listed = following.pop(id(None), [])
    done: set[int] = set()
    for node in after:
        entry = of_after[node.name]
        if id(entry) not in done:
            done.add(id(entry))
            listed.append(entry)
            listed += following.pop(id(entry), [])
    return listed


def _entries(part: PartDiff) -> Iterator[Entry]:
    for pair in part.same:
        yield Entry(SAME, (pair.before,), (pair.after,))
    for pair in part.changed:
        yield Entry(CHANGED, (pair.before,), (pair.after,), pair.changes)
    for one in part.replaced:
        yield Entry(CHANGED, one.before, one.after)
    for node in part.added:
        yield Entry(ADDED, after=(node,))
    for node in part.removed:
        yield Entry(REMOVED, before=(node,))
