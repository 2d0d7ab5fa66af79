"""The recorder: the only mutable state. It collects while torch compiles, and gives snapshots."""

import linecache
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec
import torch

from graphlens._torch import trace
from graphlens._torch.provenance import Callers, dynamo_origins
from graphlens.analysis.assemble import assemble
from graphlens.analysis.compilation_graphs import LiveGraph, NodePlace, place_graph
from graphlens.analysis.compilations import EpochClock
from graphlens.capture.environment import environment, environment_notes
from graphlens.capture.module_stack import module_calls
from graphlens.capture.reader import node_source
from graphlens.model import Failure, Graph, Note, Report, TraceRecord, Unavailable

_active: list["Recorder"] = []
_active_lock = threading.Lock()

_NOT_RETURNED = Unavailable("the inner backend has not returned")
_NOT_COUNTED = Unavailable("calls of this graph are not counted")


@dataclass
class CapturedGraph:
    """A graph a backend of ours was given, and what is learned about it afterwards.

    Attributes:
        graph: As it was read.
        attempt: How often the tracing had been started again.
        seconds: Wall time in the inner backend.
        hits: Reads how often it was called.
        failure: What stopped the inner backend.
        lowered: Places of the nodes of what it was lowered to, by stage and node name.
    """

    graph: Graph
    attempt: int
    seconds: float | Unavailable = _NOT_RETURNED
    hits: Callable[[], int] | Unavailable = _NOT_COUNTED
    failure: Failure | None = None
    lowered: dict[str, dict[str, NodePlace]] = field(default_factory=dict)

    def snapshot(self, epoch: int) -> LiveGraph:
        """The graph with what is known of it now."""
        hits = self.hits if isinstance(self.hits, Unavailable) else self.hits()
        graph = msgspec.structs.replace(
            self.graph, compile_seconds=self.seconds, hits=hits, failure=self.failure
        )
        return LiveGraph(epoch, self.attempt, graph, dict(self.lowered))


class Recorder:
    """Collects torch's trace and live graphs while it is started.

    Several recorders can be active at once; each sees everything.

    Args:
        thread: Identifier of the only thread to listen to; None for all.
    """

    def __init__(self, thread: int | None = None) -> None:
        self._thread = thread
        self._lock = threading.Lock()
        self._clock = EpochClock()
        self._records: list[TraceRecord] = []
        self._captured: list[tuple[int, CapturedGraph]] = []
        self._notes: list[Note] = []
        self._untraced = ""

    def start(self) -> None:
        """Starts to listen."""
        with _active_lock:
            _active.append(self)
        try:
            trace.subscribe(self.add_record)
        except (ImportError, AttributeError) as error:
            self._untraced = f"torch's trace could not be read ({error}); see graphlens doctor"

    def stop(self) -> None:
        """Stops to listen; what was recorded stays."""
        trace.unsubscribe(self.add_record)
        with _active_lock:
            if self in _active:
                _active.remove(self)

    def add_record(self, record: TraceRecord) -> None:
        """Takes a record of torch's trace."""
        if not self._is_listening():
            return
        with self._lock:
            epoch = self._clock.tick(record)
            self._records.append(msgspec.structs.replace(record, epoch=epoch) if epoch else record)

    def add_graph(self, captured: CapturedGraph) -> None:
        """Takes a live graph."""
        if self._is_listening():
            with self._lock:
                self._captured.append((self._clock.epoch, captured))

    def add_note(self, note: Note) -> None:
        """Takes a note for the report."""
        with self._lock:
            self._notes.append(note)

    def report(self) -> Report:
        """A snapshot of what was recorded so far; recording goes on."""
        with self._lock:
            records = list(self._records)
            live = [captured.snapshot(epoch) for epoch, captured in self._captured]
            notes = list(self._notes)
        where = environment()
        notes = [*environment_notes(where), *trace_notes(), *notes]
        return assemble(records, live, where, notes, self._untraced, linecache.getlines)

    def placed(self, captured: CapturedGraph) -> Graph:
        """A live graph as it is known now, with its function and line."""
        with self._lock:
            records = list(self._records)
            epoch = self._clock.epoch
        return place_graph(captured.snapshot(epoch), records)

    def _is_listening(self) -> bool:
        return self._thread is None or self._thread == threading.get_ident()


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


def trace_notes() -> tuple[Note, ...]:
    """A note where records of torch's trace could not be read."""
    failures = trace.failures()
    if not failures:
        return ()
    return (
        Note(
            code="trace-unread",
            message=f"Records of torch's trace could not be read: {'; '.join(failures)}",
            hint="Parts of this report may be missing. `graphlens doctor` says which torch fits.",
        ),
    )


def node_places(gm: torch.fx.GraphModule, known: Callers) -> dict[str, NodePlace]:
    """Modules, lines and Dynamo nodes of a lowered graph's nodes, by node name.

    Args:
        gm: The lowered graph.
        known: Of the Dynamo graph that it was lowered from.
    """
    return {
        node.name: NodePlace(module_calls(node), *node_source(node), dynamo_origins(node, known))
        for node in gm.graph.nodes
    }
