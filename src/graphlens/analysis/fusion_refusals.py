"""Why kernels that are neighbours were not fused, from what Inductor said of operations.

Inductor speaks of its operations (``op3``), which it fuses round by round, and of the buffers that
they write. A kernel is known by the buffers that it writes in the program, so that is how the two
are joined. Of a pair of kernels the reasons of the last round count: in earlier ones parts of them
were looked at, which may have been fused later. On the CPU one kernel can hold several operations
that Inductor did not fuse, one loop after another; of these nothing is said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphlens.analysis.program_calls import ProgramCall
from graphlens.model import KernelBuffer, NotFused

GENERATED = ("C++", "Triton")
LIBRARY = "{} is a call into a library: Inductor fuses only what it generates"


@dataclass(frozen=True)
class Refusal:
    """Two operations, or groups of them, that were looked at and kept apart.

    Attributes:
        one: Names of the operations of the first.
        other: Those of the second.
        reason: Inductor's.
        round: In which round of fusion, from 1.
    """

    one: tuple[str, ...]
    other: tuple[str, ...]
    reason: str
    round: int


@dataclass(frozen=True)
class FusionSaid:
    """What Inductor said while it fused operations.

    Attributes:
        refused: In the order it was said.
        buffers: By operation, the buffers that it writes.
        values: By buffer, the node whose value it holds, where Inductor noted that.
    """

    refused: tuple[Refusal, ...] = ()
    buffers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


def fusion_said(data: Mapping[str, Any]) -> FusionSaid:
    """Reads a record of ours: ``refused`` pairs, and ``buffers`` with their nodes by operation."""
    buffers: Mapping[str, Mapping[str, str]] = data.get("buffers", {})
    return FusionSaid(
        refused=tuple(
            Refusal(tuple(one), tuple(other), str(reason), int(number))
            for one, other, reason, number in data.get("refused", ())
        ),
        buffers={operation: tuple(names) for operation, names in buffers.items()},
        values={name: node for names in buffers.values() for name, node in names.items() if node},
    )


def refusals(
    calls: Sequence[ProgramCall], outputs: Sequence[Sequence[KernelBuffer]], said: FusionSaid
) -> list[tuple[NotFused, ...]]:
    """Of each call of a program, why it was not fused with its neighbours.

    Args:
        calls: In the order of execution.
        outputs: What each of them writes.
        said: What Inductor said.
    """
    near = _neighbours(calls, outputs)
    reasons = _by_pair(said, _writers(calls, outputs, said))
    found: list[list[NotFused]] = [[] for _ in calls]
    for pair in sorted(near):
        text = "; ".join(reasons.get(pair, ())) or _library(calls, pair)
        for this, that in (pair, pair[::-1]) if text else ():
            other = calls[that]
            found[this].append(NotFused(kernel=other.handle or other.name, reason=text))
    return [tuple(each) for each in found]


def _neighbours(
    calls: Sequence[ProgramCall], outputs: Sequence[Sequence[KernelBuffer]]
) -> set[tuple[int, int]]:
    """Pairs of calls, the first one first: one reads what the other wrote, or comes right after.

    A tensor that takes over the memory of another, as in ``buf6 = buf2``, is found by that memory.
    """
    near = {(number, number + 1) for number in range(len(calls) - 1)}
    writer: dict[str, int] = {}
    for number, (call, written) in enumerate(zip(calls, outputs, strict=True)):
        near |= {(writer[b.storage], number) for b in call.inputs if b and b.storage in writer}
        storages = [each.storage for each in call.outputs or () if each]
        names = [each.name for each in written]
        writer.update(dict.fromkeys([*storages, *names, call.result], number))
    return {(first, second) for first, second in near if first != second}


def _writers(
    calls: Sequence[ProgramCall], outputs: Sequence[Sequence[KernelBuffer]], said: FusionSaid
) -> dict[str, int]:
    """By operation, the one call that writes a buffer of it."""
    of: dict[str, int] = {}
    for number, (call, written) in enumerate(zip(calls, outputs, strict=True)):
        of.update(dict.fromkeys([*(each.name for each in written), call.result], number))
    return {
        operation: of[name]
        for operation, names in said.buffers.items()
        for name in names
        if name in of
    }


def _by_pair(said: FusionSaid, writers: Mapping[str, int]) -> dict[tuple[int, int], list[str]]:
    """By pair of calls, the reasons of the last round in which both were looked at."""
    last: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, int], list[str]] = {}
    for refusal in said.refused:
        one, other = _only(refusal.one, writers), _only(refusal.other, writers)
        if one is None or other is None or one == other:
            continue
        pair = (min(one, other), max(one, other))
        if refusal.round > last.get(pair, 0):
            last[pair], found[pair] = refusal.round, []
        if refusal.round == last[pair] and refusal.reason not in found[pair]:
            found[pair].append(refusal.reason)
    return found


def _only(operations: Iterable[str], writers: Mapping[str, int]) -> int | None:
    """The one call that a group of operations became; None where that is not known."""
    calls = {writers[name] for name in operations if name in writers}
    return calls.pop() if len(calls) == 1 else None


def _library(calls: Sequence[ProgramCall], pair: tuple[int, int]) -> str:
    """Of a library's call Inductor logs nothing: `Scheduler.unfusable_node`, torch 2.11 to 2.14."""
    for number in pair:
        if calls[number].language not in GENERATED:
            return LIBRARY.format(calls[number].name)
    return ""
