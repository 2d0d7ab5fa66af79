"""A program to compare: a function or module with calls, run in eager or compiled."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from graphlens._torch.eager import version
from graphlens.capture.input_copies import copied_inputs
from graphlens.capture.isolated_capture import Calls
from graphlens.capture.quiet import quiet
from graphlens.capture.reachable import Reachable, reachable
from graphlens.checks.kept_program import kept_program, trained
from graphlens.checks.program_results import CallResult, Leaf, flattened, leaf, shape_of
from graphlens.model import Note

Function = Callable[..., Any]
Wrap = Callable[[Function], Function]


class Program(Protocol):
    """What is run several times, each time from the same state."""

    notes: list[Note]

    @property
    def unchanged(self) -> frozenset[int]:
        """Ids of parameters that the runs so far did not change."""
        ...

    def run(self, wrap: Wrap) -> list[CallResult]:
        """Makes all calls in order, and puts the state back.

        Args:
            wrap: Makes what is called of the user's function: itself, or compiled.
        """
        ...

    def finish(self, wrap: Wrap) -> None:
        """Makes all calls once more, for their effects: those of a run without us."""
        ...

    def timed(self, wrap: Wrap) -> Any:
        """A context that gives a function without arguments, which makes all calls once."""
        ...


@dataclass
class UserProgram:
    """A function or module of the user's, with arguments.

    Attributes:
        target: To call; not compiled.
        calls: Arguments and keyword arguments.
        backward: Whether to run a backward pass from the outputs that need gradients, where the
            program makes none itself.
        notes: What was noticed.
        changed: Ids of parameters that a run changed.
        trains: Whether a run made a backward pass of its own, or an optimizer's step.
    """

    target: Function
    calls: Calls
    backward: bool = True
    notes: list[Note] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    trains: bool = False

    @property
    def unchanged(self) -> frozenset[int]:
        """Ids of parameters that the runs so far did not change."""
        found = trained(reachable(self.target, self.calls))
        return frozenset(id(one) for one in found.values()) - self.changed

    def run(self, wrap: Wrap) -> list[CallResult]:
        """Makes all calls on copies of the arguments, and puts the state back."""
        found = reachable(self.target, self.calls)
        function = wrap(self.target)
        with kept_program(found, self.notes), quiet():
            return [
                self._call(function, args, kwargs, found) for args, kwargs in self._copied_calls()
            ]

    def finish(self, wrap: Wrap) -> None:
        """Makes all calls on the arguments themselves; what they raise was told before."""
        function = wrap(self.target)
        for args, kwargs in self.calls:
            with contextlib.suppress(Exception):
                function(*args, **kwargs)

    def _copied_calls(self) -> Calls:
        """All calls with copies; tensors that calls share are shared by the copies."""
        copied, _ = copied_inputs(tuple(self.calls), {}, self.notes)
        return list(copied)

    @contextmanager
    def timed(self, wrap: Wrap) -> Iterator[Callable[[], None]]:
        """All calls on copies that are made once; the state is put back at the end."""
        found = reachable(self.target, self.calls)
        function = wrap(self.target)
        calls = self._copied_calls()

        def once() -> None:
            for args, kwargs in calls:
                output = function(*args, **kwargs)
                if self.backward and not self.trains:
                    self._gradients(output, args, kwargs, found)

        with kept_program(found, self.notes), quiet():
            yield once

    def _call(
        self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], found: Reachable
    ) -> CallResult:
        result = CallResult()
        before = {name: (one.grad, version(one)) for name, one in trained(found).items()}
        gradients: list[Leaf] = []
        try:
            output = function(*args, **kwargs)
            result.kind = shape_of(output)
            result.leaves = [leaf(n, "output", v) for n, v in flattened(output, "output")]
            # A step that ends with zero_grad leaves no gradients, but parameters that it wrote to.
            now = {name: (one.grad, version(one)) for name, one in trained(found).items()}
            self.trains |= any(
                grad is not before[name][0] or number != before[name][1]
                for name, (grad, number) in now.items()
            )
            if self.backward and not self.trains:
                gradients = self._gradients(output, args, kwargs, found)
        except Exception as error:  # noqa: BLE001  what the program raises is a result
            result.error = error
        result.leaves += gradients + _trained_now(found, before) + _state(args, kwargs, found)
        self.changed |= {id(o) for n, o in trained(found).items() if version(o) != before[n][1]}
        return result

    def _gradients(
        self, output: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Reachable
    ) -> list[Leaf]:
        """Gradients of the outputs' sum; ``.grad`` of nothing is touched."""
        started = [
            value
            for _, value in flattened(output, "output")
            if isinstance(value, torch.Tensor) and value.requires_grad
        ]
        named = {n: v for n, v in _arguments(args, kwargs) if v.requires_grad}
        named |= {n: v for n, v in trained(found).items() if v.requires_grad}
        if not started or not named:
            return []
        with torch.enable_grad():
            total = sum((_summed(one) for one in started), torch.zeros(()))
        made = torch.autograd.grad(total, list(named.values()), allow_unused=True)
        return [
            leaf(f"gradient of {name}", "gradient", one, own=True)
            for name, one in zip(named, made, strict=True)
            if one is not None
        ]


def _trained_now(
    found: Reachable, before: Mapping[str, tuple[torch.Tensor | None, int | None]]
) -> list[Leaf]:
    """Parameters and gradients that the program itself has changed."""
    leaves = []
    for name, one in trained(found).items():
        grad, old = before[name]
        if one.grad is not None and one.grad is not grad:
            leaves.append(leaf(f"gradient of {name}", "gradient", one.grad))
        if version(one) != old:
            leaves.append(leaf(f"{name} after the call", "buffer", one))
    return leaves


def _summed(output: torch.Tensor) -> torch.Tensor:
    whole = output.values() if output.is_nested else output
    real = torch.view_as_real(whole) if whole.is_complex() else whole
    return real.to_dense().float().sum() if real.is_sparse else real.float().sum()


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    given: Sequence[tuple[str, Any]] = [
        *((f"argument {index}", value) for index, value in enumerate(args)),
        *((f"argument {name}", value) for name, value in kwargs.items()),
    ]
    for name, value in given:
        for inner, one in flattened(value, name):
            if isinstance(one, torch.Tensor):
                yield inner, one


def _state(args: tuple[Any, ...], kwargs: dict[str, Any], found: Reachable) -> list[Leaf]:
    """Arguments after the call, and what the program keeps."""
    leaves = [leaf(f"{name} after the call", "input", v) for name, v in _arguments(args, kwargs)]
    for root, module in found.modules.items():
        for name, buffer in module.named_buffers(prefix=root):
            leaves.append(leaf(f"buffer {name}", "buffer", buffer))
    leaves += [
        leaf(f"{name} after the call", "buffer", one)
        for name, one in found.tensors.items()
        if not one.requires_grad
    ]
    return leaves
