"""Torch's own phases of compiling, with their times, as its structured trace tells them.

``dynamo_timed`` writes a ``chromium_event`` at the beginning and end of each phase. There are some
200 of them a graph, which the recorder has no use for; so they have a handler of their own, on
torch's logger only while somebody measures. Seen on torch 2.11, 2.13 and 2.14.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from graphlens._torch.probes import probe
from graphlens._torch.trace import compile_id
from graphlens.analysis.compile_phases import CompileTime, PhaseEvent, compile_time

_KIND = "chromium_event"


class CompilePhases(logging.Handler):
    """Collects the phases of all compilations in this process while it listens.

    Attributes:
        events: In order.
        unread: Events that could not be read.
    """

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.events: list[PhaseEvent] = []
        self.unread = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Called by torch's logger, in any thread."""
        metadata: dict[str, Any] = getattr(record, "metadata", {})
        if _KIND not in metadata:
            return
        try:
            found = json.loads(getattr(record, "payload", ""))
            event = PhaseEvent(
                found["name"],
                found["ph"],
                float(found["ts"]),
                record.thread or 0,
                compile_id(metadata),
            )
        except Exception:  # noqa: BLE001  it must not end the user's compilation
            self.unread += 1
        else:
            self.events.append(event)

    def total(self, since: int = 0) -> CompileTime:
        """Compile time by phase.

        Args:
            since: Number of events to leave out at the beginning.
        """
        return compile_time(self.events[since:], gpu=torch.cuda.is_available())


@contextmanager
def compile_phases() -> Iterator[CompilePhases]:
    """Listens to what is compiled in the block."""
    from torch._logging._internal import trace_log

    handler = CompilePhases()
    trace_log.addHandler(handler)
    # Torch's own handler takes itself off at the first record (2.11 to 2.14), while the logger goes
    # through its handlers: the one behind it would miss that record.
    trace_log.handlers.insert(0, trace_log.handlers.pop())
    try:
        yield handler
    finally:
        trace_log.removeHandler(handler)


@probe("phases of compiling in the trace", seen_on="2.11, 2.13, 2.14")
def _probe_phases() -> str:
    from torch._dynamo.utils import dynamo_timed

    with compile_phases() as phases, dynamo_timed("graphlens_probe"):
        pass
    kinds = [event.kind for event in phases.events if event.name == "graphlens_probe"]
    if kinds != ["B", "E"]:
        raise TypeError(f"a phase gave {kinds or 'nothing'} in the trace")
    return "beginning and end of a phase"
