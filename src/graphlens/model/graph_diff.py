"""What differs between two graphs."""

from itertools import chain

from graphlens.model import presentation
from graphlens.model.base import Data
from graphlens.model.graph import Graph, Node


class Change(Data, frozen=True, kw_only=True):
    """One thing in which a node differs.

    Attributes:
        what: ``operator``, ``arguments``, ``inputs``, ``shape``, ``dtype`` or ``value``.
        before: As it was, with the names of its own graph.
        after: As it is now.
    """

    what: str
    before: str
    after: str


class NodePair(Data, frozen=True, kw_only=True):
    """A node that both graphs have.

    Attributes:
        before: In the first graph.
        after: In the second; its name may be another.
        changes: In what it differs; empty where it is the same.
    """

    before: Node
    after: Node
    changes: tuple[Change, ...] = ()


class Replacement(Data, frozen=True, kw_only=True):
    """Nodes in whose place, in one module and on one line, stand others.

    Attributes:
        before: Such as one ``linear``.
        after: Such as a ``t`` and an ``addmm``.
    """

    before: tuple[Node, ...]
    after: tuple[Node, ...]


class PartDiff(Data, frozen=True, kw_only=True):
    """Two lists of nodes compared; each node is in exactly one of the five fields.

    Attributes:
        body_before: The body of a higher-order operator that is compared; empty for the graph
            itself, and where the first graph has no such body.
        body_after: The same of the second graph.
        same: In both, and equal; in the second graph's order.
        changed: In both, and not equal; in the second graph's order.
        replaced: In the second graph's order.
        added: Only in the second, in its order.
        removed: Only in the first, in its order.
    """

    body_before: str = ""
    body_after: str = ""
    same: tuple[NodePair, ...] = ()
    changed: tuple[NodePair, ...] = ()
    replaced: tuple[Replacement, ...] = ()
    added: tuple[Node, ...] = ()
    removed: tuple[Node, ...] = ()


class GraphDiff(Data, frozen=True, kw_only=True):
    """Two graphs compared by structure; names of nodes play no part.

    Attributes:
        before: The first graph.
        after: The second.
        parts: The graphs themselves, then the bodies of their higher-order operators.
    """

    before: Graph
    after: Graph
    parts: tuple[PartDiff, ...]

    @property
    def same(self) -> tuple[NodePair, ...]:
        """Nodes of both graphs that are equal, bodies included."""
        return tuple(chain.from_iterable(part.same for part in self.parts))

    @property
    def changed(self) -> tuple[NodePair, ...]:
        """Nodes of both graphs that are not equal, bodies included."""
        return tuple(chain.from_iterable(part.changed for part in self.parts))

    @property
    def replaced(self) -> tuple[Replacement, ...]:
        """Nodes that others stand in the place of, bodies included."""
        return tuple(chain.from_iterable(part.replaced for part in self.parts))

    @property
    def added(self) -> tuple[Node, ...]:
        """Nodes that only the second graph has, bodies included."""
        return tuple(chain.from_iterable(part.added for part in self.parts))

    @property
    def removed(self) -> tuple[Node, ...]:
        """Nodes that only the first graph has, bodies included."""
        return tuple(chain.from_iterable(part.removed for part in self.parts))

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return not (self.changed or self.replaced or self.added or self.removed)

    def text(self, **options: object) -> str:
        """The differences as text.

        Args:
            **options: ``width`` (columns of text, else those of the terminal) and ``context``
                (unchanged lines around a change, None for all).
        """
        return presentation.presenter().diff_text(self, **options)

    def save(self, path: str, **options: object) -> str:
        """Writes the differences as ``.svg``, ``.txt`` or ``.json``; returns the path.

        Raises:
            OutputError: The suffix is none of these, or the file cannot be written.
        """
        return presentation.presenter().save_diff(self, path, **options)

    def __str__(self) -> str:
        return self.text().rstrip("\n")
