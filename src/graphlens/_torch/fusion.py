"""Why Inductor did not fuse two operations, from its own log of fusion, and what each buffer holds.

While it schedules, Inductor hands a ``WhyNoFuse`` to the artifact logger ``fusion`` for every two
operations that it looked at and kept apart; it formats nothing unless the logger is on. It is on
while one graph is compiled, with a handler of ours, and prints nothing: artifact loggers do not
propagate, and have a handler of their own only where the user asked for their text. What the log
calls ``op3`` is looked up in the scheduler that writes it. Seen on torch 2.11, 2.13 and 2.14.
"""

import contextlib
import logging
import re
import threading
from collections.abc import Iterator
from typing import Any

from graphlens._torch.dynamo import current_attempt, current_compile_id
from graphlens._torch.probes import probe
from graphlens.analysis.generated_programs import FUSION
from graphlens.model import TraceRecord

_ROUND = "fuse_nodes_once"
_OPERATION = re.compile(r"op\d+")

_lock = threading.Lock()
_levels: list[int] = []  # of the logger before the first of us; empty while none of us listens


class FusionLog(logging.Handler):
    """What the log says in one thread.

    Attributes:
        refused: Operations on both sides, the reason and the round of fusion. Inductor goes
            through all pairs again in each round; operations it has fused are then one.
    """

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.refused: dict[tuple[str, str, str], int] = {}
        self._thread = threading.get_ident()
        self._round = 0
        self._schedulers: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Takes what Inductor says; the rest of its log is how it looked."""
        if threading.get_ident() != self._thread:
            return
        said: Any = record.msg
        if isinstance(said, str):
            if said.startswith(_ROUND):
                self._round += 1
                self._note_scheduler()
            return
        with contextlib.suppress(Exception):  # a form that is not known is no reason to stop
            reason = said.reason % said.args
            self.refused[said.name1, said.name2, reason] = self._round

    def _note_scheduler(self) -> None:
        from torch._inductor.virtualized import V

        scheduler = getattr(V.graph, "scheduler", None)
        if scheduler is not None and scheduler not in self._schedulers:
            self._schedulers.append(scheduler)

    def told(self) -> TraceRecord | None:
        """What was said while a graph was compiled, as data; None where Inductor said nothing."""
        if not self._schedulers:
            return None
        buffers: dict[str, dict[str, str]] = {}
        for scheduler in self._schedulers:
            for name, buffer in scheduler.name_to_buf.items():
                node = getattr(buffer.node, "origin_node", None)
                of = buffers.setdefault(buffer.defining_op_name(), {})
                of[name] = getattr(node, "name", "")
        refused = [
            [_OPERATION.findall(one), _OPERATION.findall(other), reason, number]
            for (one, other, reason), number in self.refused.items()
        ]
        return TraceRecord(
            kind=FUSION,
            compile_id=current_compile_id(),
            attempt=current_attempt(),
            data={"refused": refused, "buffers": buffers},
        )


@contextlib.contextmanager
def fusion_log() -> Iterator[FusionLog]:
    """Listens to what Inductor says about fusion in the block, in this thread.

    The logger's level is put back when the last one that listens leaves.
    """
    log, logger = FusionLog(), _logger()
    with _lock:
        if not _levels:
            _levels.append(logger.level)
            logger.setLevel(logging.DEBUG)
        else:
            _levels.append(_levels[0])
        logger.addHandler(log)
    try:
        yield log
    finally:
        with _lock:
            logger.removeHandler(log)
            level = _levels.pop()
            if not _levels:
                logger.setLevel(level)


def _logger() -> logging.Logger:
    from torch._logging import _internal

    return _internal.getArtifactLogger("torch._inductor.scheduler", "fusion")


@probe("Inductor's log of fusion", seen_on="2.11, 2.13, 2.14")
def _probe_fusion_log() -> str:
    from torch._inductor import scheduler

    logger = _logger()
    if scheduler.fusion_log is not logger:
        raise TypeError("the scheduler writes its log of fusion somewhere else")
    if logger.propagate:
        raise TypeError(f"{logger.name} hands on what it is told, so that it would be printed")
    for name in ("name1", "name2", "reason", "args"):
        if name not in scheduler.WhyNoFuse.__annotations__:
            raise AttributeError(f"WhyNoFuse has no {name}")
    return logger.name
