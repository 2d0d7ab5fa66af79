"""A diagram with equal blocks that follow one another drawn once, as "×N"."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from graphlens.analysis.diagram_data import Box, Cluster, Diagram, Edge, Loop
from graphlens.analysis.diagram_tree import ROOT, Member, members
from graphlens.analysis.families import INPUT
from graphlens.analysis.gathered import gathered
from graphlens.analysis.repeats import Repeats, Run, last_number, numbered_path
from graphlens.analysis.text_width import shorten_middle
from graphlens.analysis.unlike import unlike

TIMES = "×"
_LONGEST = 60


def folded(diagram: Diagram) -> Diagram:
    """Folds repeats, the outer ones first; what is almost like the others says how it differs."""
    again = True
    while again:
        folding = _Folding(diagram)
        again = folding.find()
        if again:
            diagram = folding.result()
    return gathered(diagram)


@dataclass
class _Frame:
    """A cluster of the result; ``old`` is its number before, beyond all others for a new one."""

    cluster: Cluster
    parent: int
    old: int
    first: int
    depth: int = 0


@dataclass
class _Folding:
    """One pass: runs that are not in other runs."""

    diagram: Diagram
    dropped: dict[int, int] = field(default_factory=dict)  # of a box the one that stands for it
    unit: dict[int, tuple[int, int]] = field(default_factory=dict)  # run and unit of a box
    runs: list[tuple[int, Run]] = field(default_factory=list)  # with the cluster of the result
    changed: dict[int, Cluster] = field(default_factory=dict)
    moved: dict[Member, int] = field(default_factory=dict)  # what is in a new cluster
    parents: dict[int, int] = field(default_factory=dict)  # of new clusters

    def find(self) -> bool:
        """Whether there is anything to fold."""
        contents = members(self.diagram)
        repeats = Repeats(self.diagram)
        waiting = [ROOT]
        while waiting:
            container = waiting.pop()
            parts = [one for one in contents[container] if not self._is_input(one)]
            taken: set[Member] = set()
            for run in repeats.runs(parts):
                self._take(run, container)
                start, size = parts.index(run.members[0]), len(run.members)
                taken |= set(parts[start : start + size * len(run.units)])
            self._note(parts, taken, repeats)
            waiting += [number for is_box, number in parts if (is_box, number) not in taken
                        and not is_box]  # fmt: skip
        return bool(self.runs)

    def _is_input(self, member: Member) -> bool:
        is_box, number = member
        return is_box and self.diagram.boxes[number].family == INPUT

    def _take(self, run: Run, container: int) -> None:
        for number, unit in enumerate(run.units):
            for place, box in enumerate(unit):
                self.unit[box] = (len(self.runs), number)
                if number:
                    self.dropped[box] = run.units[0].start + place
        times = f"{TIMES}{len(run.units)}"
        is_box, number = run.members[0]
        if len(run.members) == 1 and not is_box:
            cluster = self.diagram.clusters[number]
            head, dot, kind = cluster.label.partition(" · ")
            label = f"{_upto(head, run)}{dot}{kind}"
            cluster = msgspec.structs.replace(cluster, repeats=len(run.units))
        else:
            number = len(self.diagram.clusters) + len(self.runs)
            label = _upto(run.paths[0], run)
            cluster = Cluster(label="", path=run.paths[0], repeats=len(run.units))
            self.moved |= dict.fromkeys(run.members, number)
            self.parents[number] = container
        label = f"{shorten_middle(label, _LONGEST)} {times}"
        self.changed[number] = msgspec.structs.replace(cluster, label=label)
        self.runs.append((number, run))

    def _note(self, parts: Sequence[Member], taken: set[Member], repeats: Repeats) -> None:
        """Says of numbered blocks that are not folded how they differ from those that are."""
        like = {
            self.diagram.clusters[number].type: number
            for is_box, number in parts
            if not is_box and number in self.changed
        }
        for member in parts:
            is_box, number = member
            if is_box or member in taken or not numbered_path(self.diagram.clusters[number].path):
                continue
            cluster = self.diagram.clusters[number]
            if cluster.type in like and cluster.repeats == 1:
                other = repeats.boxes((False, like[cluster.type]))
                note = unlike(self.diagram, repeats.boxes(member), other)
                self.changed[number] = msgspec.structs.replace(cluster, note=note)

    def result(self) -> Diagram:
        """What is left, with all numbers made anew."""
        kept = self._kept()
        stands: dict[int, list[Box]] = {number: [] for number in kept}
        for box, of in self.dropped.items():
            stands[of].append(self.diagram.boxes[box])
        place = {number: index for index, number in enumerate(kept)}
        place |= {box: place[of] for box, of in self.dropped.items()}
        frames = self._frames(kept)
        index = {frame.old: number for number, frame in enumerate(frames)} | {ROOT: ROOT}
        return msgspec.structs.replace(
            self.diagram,
            boxes=tuple(
                _standing(self.diagram.boxes[number], stands[number], index[self._around(number)])
                for number in kept
            ),
            edges=self._edges(place),
            clusters=tuple(
                msgspec.structs.replace(frame.cluster, parent=index[frame.parent])
                for frame in frames
            ),
            loops=(*self._old_loops(place, index), *self._new_loops(place, index)),
        )

    def _kept(self) -> list[int]:
        """What is not dropped, in order: inputs between units go before them."""
        before: dict[int, int] = {}
        for _, run in self.runs:
            for number in range(run.units[0].start, run.units[-1].stop):
                if number not in self.unit:
                    before[number] = run.units[0].start
        kept = [number for number in range(len(self.diagram.boxes)) if number not in self.dropped]
        return sorted(kept, key=lambda n: (before.get(n, n), n not in before, n))

    def _around(self, box: int) -> int:
        return self.moved.get((True, box), self.diagram.boxes[box].cluster)

    def _frame(self, number: int, first: int) -> _Frame:
        if number in self.parents:
            return _Frame(self.changed[number], self.parents[number], number, first)
        cluster = self.changed.get(number, self.diagram.clusters[number])
        return _Frame(cluster, self.moved.get((False, number), cluster.parent), number, first)

    def _frames(self, kept: Sequence[int]) -> list[_Frame]:
        """The clusters that have boxes, outer ones before those in them."""
        found: dict[int, _Frame] = {}
        for number in kept:
            inner = self._around(number)
            while inner != ROOT and inner not in found:
                found[inner] = self._frame(inner, number)
                inner = found[inner].parent
        for frame in found.values():
            outer = frame.parent
            while outer != ROOT:
                frame.depth += 1
                outer = found[outer].parent
        return sorted(found.values(), key=lambda frame: (frame.depth, frame.first))

    def _edges(self, place: dict[int, int]) -> tuple[Edge, ...]:
        """Those of what is left; what a unit gives to a later one is a loop."""
        found = set()
        for edge in self.diagram.edges:
            here, there = self.unit.get(edge.source), self.unit.get(edge.target)
            if here and there and here[0] == there[0] and here[1] != there[1]:
                continue
            found.add((place[edge.source], place[edge.target]))
        return tuple(Edge(source=source, target=target) for source, target in sorted(found))

    def _old_loops(self, place: dict[int, int], index: dict[int, int]) -> list[Loop]:
        return [
            Loop(cluster=index[loop.cluster], source=place[loop.source], target=place[loop.target])
            for loop in self.diagram.loops
            if loop.cluster in index and loop.source not in self.dropped
        ]

    def _new_loops(self, place: dict[int, int], index: dict[int, int]) -> list[Loop]:
        return [
            Loop(
                cluster=index[number],
                source=place[run.units[0].start + source],
                target=place[run.units[0].start + target],
            )
            for number, run in self.runs
            for source, target in run.carried
        ]


def _standing(box: Box, others: Sequence[Box], cluster: int) -> Box:
    """A box that stands for others, too."""
    if not others:
        return msgspec.structs.replace(box, cluster=cluster)
    return msgspec.structs.replace(
        box,
        cluster=cluster,
        nodes=(*box.nodes, *(name for other in others for name in other.nodes)),
        operators=box.operators + sum(other.operators for other in others),
        parameters=box.parameters + sum(other.parameters for other in others),
        count=box.count + sum(other.count for other in others),
    )


def _upto(path: str, run: Run) -> str:
    """``layer.0`` as ``layer.0 … 11``."""
    return f"{path} … {last_number(run.paths[-1])}"
