"""The parts of a diagram, as plain data; ``diagram`` makes them from a graph."""

from graphlens.model.base import Data


class Row(Data, frozen=True, kw_only=True):
    """A line of text in a box.

    Attributes:
        kind: ``state`` (a parameter, buffer, constant or body of the operator), ``from`` (a value
            used without a line to it) or ``to`` (users without a line to them).
        text: What it says.
    """

    kind: str
    text: str


class Box(Data, frozen=True, kw_only=True):
    """One box.

    Attributes:
        name: Name of the node it is drawn for.
        family: Kind of work: one of ``families.FAMILIES``.
        label: The operator as people write it.
        caption: The leaf module or the input it stands for; may be empty.
        value: Shape and dtype of the result in readable form; may be empty.
        place: The user's line as ``file.py:12``; empty where torch recorded none.
        rows: Further lines of text.
        nodes: Names of all nodes it stands for.
        details: Lines for a tooltip: all that is known of the nodes.
        cluster: Index of the innermost cluster it is in, or -1.
    """

    name: str
    family: str
    label: str
    caption: str = ""
    value: str = ""
    place: str = ""
    rows: tuple[Row, ...] = ()
    nodes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    cluster: int = -1


class Edge(Data, frozen=True, kw_only=True):
    """A value of one box that another uses; boxes by index, source before target."""

    source: int
    target: int


class Cluster(Data, frozen=True, kw_only=True):
    """One call of a module that is drawn as a rectangle.

    Attributes:
        label: Such as ``layer1.0 · BasicBlock``; relative to the cluster around it.
        path: Full attribute path of the module.
        type: Qualified class name.
        parent: Index of the cluster around it, always a smaller one; -1 at the root.
    """

    label: str
    path: str
    type: str = ""
    parent: int = -1


class Diagram(Data, frozen=True, kw_only=True):
    """One picture.

    Attributes:
        title: What graph it is.
        boxes: In topological order, those of a cluster one after another.
        edges: Those that are drawn as lines.
        clusters: Outer ones before those in them.
        operators: How many operators the graph has.
        nodes: How many nodes it has.
    """

    title: str
    boxes: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    operators: int = 0
    nodes: int = 0
