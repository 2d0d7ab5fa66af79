"""Equal blocks that follow one another: which parts of a diagram are the same, by structure.

Only numbered ones are looked at, such as ``layer.0`` and ``layer.1``: three equal projections
side by side are no repetition, and folding them would hide which feeds what. Blocks are equal
where their classes, operators, shapes and inner edges are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphlens.analysis.diagram_data import Box, Diagram
from graphlens.analysis.diagram_tree import Member, spans

MOST_PER_UNIT = 8
"""Blocks that take turns, such as one with local and one with global attention."""
FEWEST_SAVED = 4
"""Folding fewer boxes away saves nothing."""

_NUMBERED = re.compile(r"^(.*?)\W?(\d+)\W*$")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Run:
    """Equal units, one after another.

    Attributes:
        units: The boxes of each; all ranges have one length.
        members: What the first unit consists of.
        paths: Of each unit the path of its first numbered member.
        carried: Boxes, counted within a unit, from which each unit feeds the next, and where.
    """

    units: tuple[range, ...]
    members: tuple[Member, ...]
    paths: tuple[str, ...]
    carried: tuple[tuple[int, int], ...]


class Repeats:
    """Finds runs in the containers of one diagram."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.spans = spans(diagram)
        self.inputs: list[list[int]] = [[] for _ in diagram.boxes]
        for edge in diagram.edges:
            self.inputs[edge.target].append(edge.source)
        self._known: dict[tuple[object, ...], int] = {}
        self._kinds = [self._kind_of_box(box) for box in diagram.boxes]
        children: dict[int, list[int]] = {}
        for number, cluster in enumerate(diagram.clusters):
            children.setdefault(cluster.parent, []).append(number)
        self._children = children
        self._signatures = [0] * len(diagram.clusters)
        for number in reversed(range(len(diagram.clusters))):
            self._signatures[number] = self._signature(number)

    def boxes(self, member: Member) -> range:
        """Those of a box or a cluster."""
        is_box, number = member
        return range(number, number + 1) if is_box else self.spans[number]

    def kind(self, member: Member) -> int:
        """The same number for equal members."""
        is_box, number = member
        return self._kinds[number] if is_box else self._signatures[number]

    def path(self, member: Member) -> str:
        """Of its module; empty for a box that is but a part of one."""
        is_box, number = member
        return self.diagram.boxes[number].path if is_box else self.diagram.clusters[number].path

    def runs(self, members: Sequence[Member]) -> list[Run]:
        """Those in one container, none inside another.

        Args:
            members: What is directly in the container, in order; inputs of the graph, which stand
                right before what uses them, left out.
        """
        kinds = [self.kind(member) for member in members]
        found: list[Run] = []
        at = 0
        while at < len(members):
            run = self._longest(members, kinds, at)
            if run is None:
                at += 1
                continue
            found.append(run)
            at += len(run.members) * len(run.units)
        return found

    def _longest(self, members: Sequence[Member], kinds: list[int], at: int) -> Run | None:
        """The run from a place on that covers most, of the smallest units."""
        best: Run | None = None
        for size in range(1, min(MOST_PER_UNIT, (len(members) - at) // 2) + 1):
            unit = kinds[at : at + size]
            count = 1
            while kinds[at + count * size : at + (count + 1) * size] == unit:
                count += 1
            if count < 2 or (best and count * size <= len(best.units) * len(best.members)):
                continue
            run = self._run(members[at : at + count * size], size)
            saved = (len(run.units) - 1) * len(run.units[0]) if run else 0
            if run and saved >= FEWEST_SAVED:
                best = run
        return best

    def _run(self, members: Sequence[Member], size: int) -> Run | None:
        """As many of the equal units as hang together in the same way."""
        units: list[range] = []
        paths: list[str] = []
        for start in range(0, len(members), size):
            part = members[start : start + size]
            numbered = [path for one in part if (path := numbered_path(self.path(one)))]
            if not numbered or (paths and _base(numbered[0]) != _base(paths[0])):
                break
            paths.append(numbered[0])
            units.append(range(self.boxes(part[0]).start, self.boxes(part[-1]).stop))
        home = {box: number for number, unit in enumerate(units) for box in unit}
        hanging = [self._hanging(units, number, home) for number in range(1, len(units))]
        equal = 1
        while equal < len(units) and hanging[equal - 1] == hanging[0]:
            equal += 1
        if equal < 2:
            return None
        carried = tuple(
            (where, target) for target, kind, where in sorted(hanging[0]) if kind == "before"
        )
        return Run(tuple(units[:equal]), tuple(members[:size]), tuple(paths[:equal]), carried)

    def _hanging(
        self, units: Sequence[range], number: int, home: Mapping[int, int]
    ) -> frozenset[tuple[int, str, int]]:
        """How a unit hangs on what is before it: box, on what, and which there."""
        found = set()
        for box in units[number]:
            place = box - units[number].start
            for source in self.inputs[box]:
                unit = home.get(source)
                if unit is None:
                    found.add((place, "outside", -1))
                elif unit != number:
                    kind = "before" if number - unit == 1 else f"{number - unit} before"
                    found.add((place, kind, source - units[unit].start))
        return frozenset(found)

    def _number(self, *what: object) -> int:
        return self._known.setdefault(what, len(self._known))

    def _kind_of_box(self, box: Box) -> int:
        caption = _NUMBER.sub("#", box.caption) if box.path else box.caption
        return self._number(
            "box", box.family, box.label, caption, box.value, box.count, box.operators,
            tuple(row.text for row in box.rows),
        )  # fmt: skip

    def _signature(self, number: int) -> int:
        cluster, boxes = self.diagram.clusters[number], self.spans[number]
        inner = tuple(
            tuple(source - boxes.start if source in boxes else -1 for source in self.inputs[box])
            for box in boxes
        )
        return self._number(
            "cluster", cluster.type,
            tuple(self._kinds[box] for box in boxes), inner,
            tuple(
                (self._signatures[child], self.spans[child].start - boxes.start)
                for child in self._children.get(number, ())
            ),
        )  # fmt: skip


def numbered_path(path: str) -> str:
    """The path itself where its last part is a number, else empty."""
    return path if _NUMBERED.match(path) else ""


def _base(path: str) -> str:
    found = _NUMBERED.match(path)
    return found[1] if found else path


def last_number(path: str) -> str:
    """The number that a path ends with."""
    found = _NUMBERED.match(path)
    return found[2] if found else ""
