"""Runs of a graph's call that can be timed: what is made new, put back and cleared between them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from graphlens._torch.eager import version, view_base
from graphlens._torch.memory import Held, held_during
from graphlens.checks.clocks import clock_for
from graphlens.checks.graph_calls import CompiledFn, GraphCall, tangents_for
from graphlens.checks.rounds import Runnable
from graphlens.model import Unavailable

# The parts of a run with a backward pass, by the step that is timed; None is both together.
_TRAINING: tuple[tuple[str, int | None], ...] = (
    ("forward", 0),
    ("backward", 1),
    ("training", None),
)


class GraphRun:
    """Runs of one call of a graph, by any candidate.

    All candidates share one copy of the inputs: it saves memory, and where data lies makes no
    difference between them. What the graph changes is put back before each run; where that cannot
    be done in place, each run gets a copy of its own.

    Attributes:
        mutates: Whether the graph changes its inputs.
        reason: Why the call cannot be made again; else empty.
    """

    def __init__(self, call: GraphCall, backward: bool) -> None:
        self.call, self.backward = call, backward and call.around.grad
        self.mutates, self.reason = False, ""
        self.inputs = call.fresh()
        self.changed: list[int] | None = []  # None: each run needs a copy
        self.tangents: dict[int, torch.Tensor] = {}
        others = [one.device for one in _tensors(self.inputs) if one.device.type != "cpu"]
        self.device = others[0] if others else torch.device("cpu")

    def look(self, gm: CompiledFn) -> None:
        """Runs the graph once in eager, to see what it changes and whether it has gradients."""
        for value, given in zip(self.inputs, self.call.inputs, strict=True):
            if isinstance(value, torch.Tensor) and value is given:
                kind = type(value).__name__
                self.reason = f"an input ({kind}) cannot be copied, so the call is not made again"
                return
        before = [version(v) if isinstance(v, torch.Tensor) else None for v in self.inputs]
        try:
            with self.around():
                outputs = _flat(gm(*self.inputs))
        except Exception:  # noqa: BLE001  the candidate that runs it will raise it again
            self.inputs = self.call.fresh()
            return
        self.tangents = tangents_for(outputs, self.call.tangents) if self.backward else {}
        del outputs
        given = zip(self.inputs, before, self.call.inputs, strict=True)
        changed = [number for number, one in enumerate(given) if _changed(*one)]
        self.mutates = bool(changed)
        self.changed = changed if self._can_put_back(changed) else None

    def _can_put_back(self, changed: Sequence[int]) -> bool:
        for number in changed:
            value, given = self.inputs[number], self.call.inputs[number]
            layout = (value.shape, value.stride(), value.storage_offset())
            if layout != (given.shape, given.stride(), given.storage_offset()):
                return False
            if value.requires_grad or value.is_inference():
                return False
            try:
                value.copy_(given)
            except RuntimeError:  # such as one whose elements share memory
                return False
        return True

    def parts(self) -> Sequence[tuple[str, int | None]]:
        """Those that are timed, each with its step."""
        if self.tangents:
            return _TRAINING
        needs = any(one.requires_grad for one in _tensors(self.inputs))
        return (("forward", None),) if self.call.around.grad and needs else (("inference", None),)

    def steps(self, fn: CompiledFn) -> tuple[Callable[[Any], Any], ...]:
        """Forward, and backward where there is one."""

        def forward(_: Any) -> Any:
            return fn(*self.inputs)

        def backward(outputs: Any) -> None:
            flat = _flat(outputs)
            started = [flat[number] for number in self.tangents]
            with ExitStack() as stack:
                # A program leaves autocast before its backward pass.
                for kind, _ in self.call.around.autocast:
                    stack.enter_context(torch.autocast(kind, enabled=False))
                torch.autograd.backward(started, list(self.tangents.values()))

        return (forward, backward) if self.tangents else (forward,)

    def prepare(self) -> Callable[[], None] | None:
        """What must be done before each run, outside of the clock; None for nothing."""
        autocast = bool(self.call.around.autocast)
        if not (self.mutates or self.tangents or autocast):
            return None

        def prepared() -> None:
            self.put_back()
            self.clear()
            if autocast:
                torch.clear_autocast_cache()  # of weights: a program's step casts them anew

        return prepared

    def put_back(self) -> None:
        """Gives the inputs the values that they had."""
        if self.changed is None:
            self.inputs = self.call.fresh()
            return
        with torch.no_grad():
            for number in self.changed:
                self.inputs[number].copy_(self.call.inputs[number])

    def clear(self) -> None:
        """Drops the gradients that a run has left."""
        for value in _tensors(self.inputs):
            for one in (value, view_base(value)):
                if one is not None and one.is_leaf and one.requires_grad:
                    one.grad = None

    @contextmanager
    def around(self) -> Iterator[None]:
        """Modes and random states of the call; no gradients are left behind."""
        try:
            with self.call.around.restored():
                yield
        finally:
            self.clear()

    def runnable(self, name: str, fn: CompiledFn) -> Runnable:
        """The call by a candidate, to be timed."""
        return Runnable(name, self.steps(fn), self.prepare(), self.around, clock_for(self.device))

    def once(self, fn: CompiledFn) -> float:
        """Makes the call; seconds."""
        runnable = self.runnable("", fn)
        with runnable.around():
            return sum(runnable.clock.block(runnable.steps, runnable.prepare, 1))

    def peaks(self, fn: CompiledFn) -> dict[str, int | Unavailable]:
        """Most bytes that the call holds at once beyond its inputs, by part."""
        if prepare := self.prepare():
            prepare()
        outputs: list[Any] = []
        steps = self.steps(fn)
        with self.around():
            held = held_during(lambda: outputs.append(steps[0](None)), self.device)
            if len(steps) == 1 or isinstance(held, Unavailable):
                peak = held if isinstance(held, Unavailable) else held.peak
                return {part: peak for part, _ in self.parts()}
            after = held_during(lambda: steps[1](outputs.pop()), self.device)
        return _peaks_of_training(held, after)


def _peaks_of_training(forward: Held, backward: Held | Unavailable) -> dict[str, int | Unavailable]:
    """Backward starts with what forward left: its outputs and what it saved for backward."""
    if isinstance(backward, Unavailable):
        return {"forward": forward.peak, "backward": backward, "training": backward}
    behind = forward.left + backward.peak
    return {
        "forward": forward.peak,
        "backward": behind,
        "training": max(forward.peak, behind),
    }


def _changed(value: Any, old: int | None, given: Any) -> bool:
    """Whether a run changed an input: by its version, or by its values where torch counts none."""
    if not isinstance(value, torch.Tensor):
        return False
    if old is not None:
        return version(value) != old
    return not bool(torch.isclose(value, given, rtol=0, atol=0, equal_nan=True).all())


def _tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    return [value for value in values if isinstance(value, torch.Tensor)]


def _flat(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
