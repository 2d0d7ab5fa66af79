"""Which records belong together: compile ids, told apart where torch used one twice."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphlens.analysis.places import user_frame
from graphlens.model import SourceLocation, TraceRecord

_WITH_FRAME = re.compile(r"^(?:!\d+/)?(?P<frame>\d+)/(?P<number>\d+)$")


class CompilationKey(NamedTuple):
    """One compilation of a run.

    Attributes:
        epoch: How often torch had started its numbers anew; 0 in most runs.
        compile_id: Torch's frame and compile number, such as ``0/1``.
    """

    epoch: int
    compile_id: str

    @property
    def frame(self) -> str:
        """The frame, by torch's number; unique in a report."""
        return self.unique(self.compile_id.rpartition("/")[0])

    def unique(self, name: str) -> str:
        """A name that is made of torch's numbers, told apart from one of another epoch."""
        return f"{name}@{self.epoch + 1}" if self.epoch else name


class EpochClock:
    """Notices when torch starts its numbers anew, which ``torch._dynamo.reset()`` makes it do.

    A frame's first compilation always has the next frame number. A number that is not higher than
    all before, or a compilation that starts twice, means that the numbers begin again.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._highest = -1
        self._started: set[str] = set()

    def tick(self, record: TraceRecord) -> int:
        """The epoch of a record; records must come in their order."""
        match = _WITH_FRAME.match(record.compile_id)
        if match is None or record.kind != "dynamo_start" or record.attempt:
            return self.epoch
        frame, first = int(match["frame"]), match["number"] == "0"
        if record.compile_id in self._started or (first and frame <= self._highest):
            self.epoch += 1
            self._highest = -1
            self._started.clear()
        self._started.add(record.compile_id)
        self._highest = max(self._highest, frame)
        return self.epoch


def by_compilation(records: Iterable[TraceRecord]) -> dict[CompilationKey, list[TraceRecord]]:
    """Records by compilation, in the order the compilations first came.

    Records without a frame's number, such as compiled autograd's own, belong to none.
    """
    result: dict[CompilationKey, list[TraceRecord]] = {}
    for record in records:
        if _WITH_FRAME.match(record.compile_id):
            key = CompilationKey(record.epoch, record.compile_id)
            result.setdefault(key, []).append(record)
    return result


def start_of(records: Iterable[TraceRecord]) -> SourceLocation | None:
    """First line of the function that the records of one compilation are about.

    Of an object that Dynamo calls through a wrapper of its own, that of the object.
    """
    records = list(records)
    for record in records:
        callee = (record.data.get("seen") or {}).get("callee")
        if record.kind == "dynamo_start" and callee:
            name, file, line = callee
            return SourceLocation(file=file, line=line, function=name)
    stack = start_stack(records)
    return stack[-1] if stack else None


def compiled_functions(records: Iterable[TraceRecord]) -> dict[str, SourceLocation]:
    """First line of the function of each compilation, by compile id."""
    starts = ((record, start_of([record])) for record in records if record.kind == "dynamo_start")
    return {record.compile_id: start for record, start in starts if start}


def start_stack(records: Iterable[TraceRecord]) -> tuple[SourceLocation, ...]:
    """The stack when a compilation began, outermost first; the last is the function itself."""
    for record in records:
        if record.kind == "dynamo_start":
            return tuple(_source(frame) for frame in record.data.get("stack", ()))
    return ()


def caller_of(records: Sequence[TraceRecord]) -> SourceLocation | None:
    """The user's line that called the frame that the records of one compilation are about."""
    stack = start_stack(records)[:-1]
    for record in records:
        caller = (record.data.get("seen") or {}).get("caller")
        if record.kind == "dynamo_start" and caller:
            file, line, function = caller
            known = [place for place in stack if (place.file, place.line) == (file, line)]
            return (known or [SourceLocation(file=file, line=line, function=function)])[-1]
    return user_frame(stack)


def _source(frame: dict[str, object]) -> SourceLocation:
    return SourceLocation(
        file=str(frame.get("filename", "")),
        line=int(str(frame.get("line", 0) or 0)),
        function=str(frame.get("name", "")),
        code=str(frame.get("loc", "") or ""),
    )
