"""The recorder: the only mutable state. It collects while torch compiles, and gives snapshots."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec
import torch

from graphlens._torch import trace
from graphlens.analysis.assemble import assemble
from graphlens.analysis.compilation_graphs import LiveGraph, LoweredPlaces, place_graph
from graphlens.capture.environment import environment, environment_notes
from graphlens.capture.module_stack import module_calls
from graphlens.capture.reader import node_source
from graphlens.model import Graph, Note, Report, TraceRecord, Unavailable

_active: list["Recorder"] = []
_active_lock = threading.Lock()


@dataclass
class CapturedGraph:
    """A graph a backend of ours was given, and what is learned about it afterwards."""

    graph: Graph
    attempt: int
    seconds: float | Unavailable = field(
        default_factory=lambda: Unavailable("the inner backend has not returned")
    )
    hits: Callable[[], int] | Unavailable = field(
        default_factory=lambda: Unavailable("calls of this graph are not counted")
    )

    def snapshot(self) -> Graph:
        """The graph with what is known of it now."""
        hits = self.hits if isinstance(self.hits, Unavailable) else self.hits()
        return msgspec.structs.replace(self.graph, compile_seconds=self.seconds, hits=hits)


class Recorder:
    """Collects torch's trace and live graphs, from all threads, while it is started.

    Several recorders can be active at once; each sees everything.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: list[TraceRecord] = []
        self._captured: list[CapturedGraph] = []
        self._lowered: list[LoweredPlaces] = []
        self._notes: list[Note] = []

    def start(self) -> None:
        """Starts to listen."""
        with _active_lock:
            _active.append(self)
        trace.subscribe(self.add_record)

    def stop(self) -> None:
        """Stops to listen; what was recorded stays."""
        trace.unsubscribe(self.add_record)
        with _active_lock:
            if self in _active:
                _active.remove(self)

    def add_record(self, record: TraceRecord) -> None:
        """Takes a record of torch's trace."""
        with self._lock:
            self._records.append(record)

    def add_graph(self, captured: CapturedGraph) -> None:
        """Takes a live graph."""
        with self._lock:
            self._captured.append(captured)

    def add_lowered(self, lowered: LoweredPlaces) -> None:
        """Takes what the trace does not say about a lowered graph."""
        with self._lock:
            self._lowered.append(lowered)

    def add_note(self, note: Note) -> None:
        """Takes a note for the report."""
        with self._lock:
            self._notes.append(note)

    def report(self) -> Report:
        """A snapshot of what was recorded so far; recording goes on."""
        with self._lock:
            records = list(self._records)
            live = [LiveGraph(attempt=c.attempt, graph=c.snapshot()) for c in self._captured]
            lowered = list(self._lowered)
            notes = list(self._notes)
        where = environment()
        return assemble(records, live, lowered, where, (*environment_notes(where), *notes))

    def placed(self, captured: CapturedGraph) -> Graph:
        """A live graph as it is known now, with its function and line."""
        with self._lock:
            records = list(self._records)
        return place_graph(captured.snapshot(), records)


@contextmanager
def noted_failures(recorders: Sequence[Recorder], doing: str) -> Iterator[None]:
    """Keeps a fault of ours out of the user's compilation; it becomes a note in the report.

    Args:
        recorders: That take the note.
        doing: What failed, for the note.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001  the user's program comes first
        note = Note(
            code="internal-error",
            message=f"GraphLens failed at {doing}: {type(error).__name__}: {error}",
            hint="The program itself is not affected. Please report this with the program.",
        )
        for recorder in recorders:
            recorder.add_note(note)


def active_recorders() -> tuple[Recorder, ...]:
    """All recorders that listen now."""
    with _active_lock:
        return tuple(_active)


def lowered_places(gm: torch.fx.GraphModule, compile_id: str, stage: str) -> LoweredPlaces:
    """Modules and the user's own lines of a lowered graph's nodes."""
    places = {node.name: (module_calls(node), node_source(node)[1]) for node in gm.graph.nodes}
    return LoweredPlaces(
        compile_id=compile_id,
        stage=stage,
        nodes={name: place for name, place in places.items() if place[0] or place[1]},
    )
