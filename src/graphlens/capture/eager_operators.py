"""Operators that ran outside every captured graph, by the user's line.

A line that a break keeps out of a graph, a function that torch gave up on, or a library function
that torch does not enter from eager code (``nn.Sequential`` after a break) runs operator by
operator, and no record of torch's says so. Here they are seen as they run.
"""

import linecache
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from graphlens._torch import dispatch
from graphlens._torch.dynamo import is_saved_by_torch, keep_serialize
from graphlens.capture.operator_places import OperatorPlace, operator_place
from graphlens.model import EagerOperators, SourceLocation, Unavailable

CompiledFn = Callable[..., Any]

_OTHER_MODE = (
    "a dispatch mode is active around this call, which keeps Dynamo from compiling; "
    "call graphlens.explain outside of it"
)
_DOCTOR = "graphlens doctor says which torch fits"
_SAVED = "torch saves the compiled code (caching_precompile), so graphs could not be told apart"


class OperatorsOutsideGraphs:
    """Counts while a call runs that one thread makes."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._is_watching = False
        self._in_graph = False
        self._nodes: list[range] = []  # numbers of autograd nodes that graphs made, in order
        self._found: dict[OperatorPlace, dict[str, int]] = {}
        self._unavailable = ""

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts what runs inside, in this thread."""
        with ExitStack() as stack:
            try:
                if dispatch.active_modes():
                    self._unavailable = _OTHER_MODE
                elif not self._unavailable:
                    # Whatever torch lacks shows here, and not inside the program.
                    dispatch.autograd_clock()
                    dispatch.running_node()
                    stack.enter_context(dispatch.watched_operators(self._note))
                    self._is_watching = True
                    stack.callback(setattr, self, "_is_watching", False)
            except (ImportError, AttributeError, TypeError) as error:
                self._unavailable = f"operators could not be watched ({error}); {_DOCTOR}"
            yield

    def left_out(self, compiled: CompiledFn) -> CompiledFn:
        """A captured graph's function whose operators are not counted, nor those of its backward.

        A function that torch saves has to stay as it is, and ends the counting.
        """
        if is_saved_by_torch(compiled):
            self._unavailable = _SAVED
            return compiled

        def run(*args: Any) -> Any:
            elsewhere = threading.get_ident() != self._thread
            if elsewhere or self._in_graph or not self._is_watching:
                return compiled(*args)
            self._in_graph = True
            start = dispatch.autograd_clock()
            try:
                with dispatch.unwatched():
                    return compiled(*args)
            finally:
                self._in_graph = False
                self._nodes.append(range(start, dispatch.autograd_clock()))

        keep_serialize(run, compiled)
        return run

    def found(self) -> tuple[EagerOperators, ...] | Unavailable:
        """What was counted so far, most first."""
        if self._unavailable:
            return Unavailable(self._unavailable)
        found = [_record(place, counts) for place, counts in self._found.items()]
        return tuple(sorted(found, key=lambda operators: -operators.count))

    def _note(self, operator: str, frame: FrameType | None) -> None:
        if self._in_graph or self._unavailable:
            return
        try:
            node = dispatch.running_node()
            if node is not None and self._is_of_a_graph(node):
                return
            if threading.get_ident() != self._thread:
                # A backward pass on a GPU has threads of its own, while this one waits in it.
                frame = sys._current_frames().get(self._thread)
            place = operator_place(operator, frame)
            if place is not None:
                counts = self._found.setdefault(place, {})
                counts[operator] = counts.get(operator, 0) + 1
        except Exception as error:  # noqa: BLE001  the user's program comes first
            self._unavailable = f"counting failed ({type(error).__name__}: {error}); please report"

    def _is_of_a_graph(self, node: int) -> bool:
        """Whether an autograd node was made in a captured graph, or adds to a leaf's gradient.

        The latter is the engine's work, which no graph takes over.
        """
        if node == dispatch.LEAF:
            return True
        before = bisect_right(self._nodes, node, key=lambda made: made.start)
        return before > 0 and node in self._nodes[before - 1]


def _record(place: OperatorPlace, counts: dict[str, int]) -> EagerOperators:
    code = linecache.getline(place.file, place.line).strip()
    return EagerOperators(
        place=SourceLocation(file=place.file, line=place.line, function=place.function, code=code),
        count=sum(counts.values()),
        operators=tuple(counts),
        inside=place.inside,
    )
