"""The parts of a diagram, as plain data; ``diagram`` makes them from a graph."""

from graphlens.model.base import Data


class Row(Data, frozen=True, kw_only=True):
    """A line of text in a box.

    Attributes:
        kind: ``state`` (a parameter, buffer, constant or body of the operator), ``from`` (a value
            used without a line to it), ``to`` (users without a line to them) or ``mark`` (what
            the box is coloured by).
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
        path: Of the module it is all of; empty where it is but a part of one.
        operators: How many operators it stands for.
        parameters: Numbers in the parameters that it uses; 0 where their sizes are not known.
        count: How many equal ones it stands for.
        heat: Of what it is coloured by instead of its family, 1 to 5; 0 where that says nothing
            of it, and None where colours are those of families.
        mark: Where two graphs are compared, ``same``, ``added``, ``removed`` or ``changed``.
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
    path: str = ""
    operators: int = 0
    parameters: int = 0
    count: int = 1
    heat: int | None = None
    mark: str = ""


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
        leaf: Whether no other module is called in it.
        repeats: How many equal ones, one after another, it stands for.
        note: How it differs from those like it; empty where there are none.
    """

    label: str
    path: str
    type: str = ""
    parent: int = -1
    leaf: bool = False
    repeats: int = 1
    note: str = ""


class Loop(Data, frozen=True, kw_only=True):
    """A value that each of several equal clusters takes from the one before.

    Attributes:
        cluster: The one that stands for all.
        source: The box in it that makes the value.
        target: The box in it that uses the value of the one before.
    """

    cluster: int
    source: int
    target: int


class Diagram(Data, frozen=True, kw_only=True):
    """One picture.

    Attributes:
        title: What graph it is.
        boxes: In topological order, those of a cluster one after another.
        edges: Those that are drawn as lines.
        clusters: Outer ones before those in them.
        operators: How many operators the graph has.
        nodes: How many nodes it has.
        loops: Values from one of several equal clusters to the next.
        hidden: What was left out of the picture and why; empty where nothing was.
    """

    title: str
    boxes: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    operators: int = 0
    nodes: int = 0
    loops: tuple[Loop, ...] = ()
    hidden: str = ""
