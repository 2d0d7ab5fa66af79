"""A case as a program to compare: made anew for each run, with the seeds it was measured with."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from casework.outcome import differentiable, seed
from graphlens.checks.compare_options import CompareOptions
from graphlens.checks.program_results import CallResult, flattened, leaf, shape_of
from graphlens.checks.programs import Wrap
from graphlens.model import Note

Calls = list[tuple[Any, ...]]


@dataclass
class CaseProgram:
    """A case; see ``graphlens.checks.programs.Program``.

    What its calls change is dropped with the objects that ``make()`` gave.

    Attributes:
        case: Its module.
        notes: None are made.
    """

    case: Any
    notes: list[Note] = field(default_factory=list)

    @property
    def unchanged(self) -> frozenset[int]:
        """None: parameters are made anew for each run."""
        return frozenset()

    def run(self, wrap: Wrap) -> list[CallResult]:
        """Makes all calls in order, as the case was measured."""
        with _kept_modes():
            target, function, calls = self._made(wrap)
            return [self._call(target, function, i, args) for i, args in enumerate(calls)]

    def finish(self, wrap: Wrap) -> None:
        """Does nothing: nobody has what a run would leave."""

    @contextlib.contextmanager
    def timed(self, wrap: Wrap) -> Iterator[Callable[[], None]]:
        """All calls on one target."""
        with _kept_modes():
            target, function, calls = self._made(wrap)

            def once() -> None:
                for i, args in enumerate(calls):
                    self._call(target, function, i, args)

            yield once

    def _made(self, wrap: Wrap) -> tuple[Any, Any, Calls]:
        seed()
        target, calls = self.case.make()
        own = getattr(self.case, "compile_with", None)
        return target, own(target, wrap) if own else wrap(target), calls

    def _call(self, target: Any, function: Any, i: int, args: tuple[Any, ...]) -> CallResult:
        if hasattr(self.case, "before_call"):
            self.case.before_call(i, target)
        seed()
        result = CallResult()
        own = getattr(self.case, "call", None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                output = own(function, args) if own else function(*args)
                if self._backward:
                    sum(differentiable(output)).backward()
                result.kind = shape_of(output)
                result.leaves = [leaf(n, "output", v) for n, v in flattened(output, "output")]
            except Exception as error:  # noqa: BLE001 whatever it is, it is the result
                result.error = error
        result.leaves += [leaf(*one) for one in self._around(target, args)]
        return result

    @property
    def _backward(self) -> bool:
        return getattr(self.case, "BACKWARD", False)

    def _around(self, target: Any, args: tuple[Any, ...]) -> Iterator[tuple[str, str, Any]]:
        """Name, role and value of what a call may have changed besides giving its output."""
        for number, argument in enumerate(args):
            for name, value in flattened(argument, f"argument {number}"):
                if isinstance(value, torch.Tensor):
                    yield f"{name} after the call", "input", value
            if self._backward and isinstance(argument, torch.Tensor) and argument.requires_grad:
                yield f"gradient of argument {number}", "gradient", argument.grad
        if isinstance(target, torch.nn.Module):
            for name, parameter in target.named_parameters() if self._backward else ():
                yield f"gradient of {name}", "gradient", parameter.grad
            for name, buffer in target.named_buffers():
                yield f"buffer {name}", "buffer", buffer


def options_of(case: Any, inner: str, more: dict[str, Any]) -> CompareOptions:
    """What to compare of a case: values, and not times.

    Args:
        case: Its module; its ``COMPILE`` says how it is compiled.
        inner: The backend that is compared with eager.
        more: Options of ``graphlens.compare``.
    """
    keywords = {"timing": False, **getattr(case, "COMPILE", {}), **more}
    return CompareOptions(inner=inner, **keywords)


@contextlib.contextmanager
def _kept_modes() -> Iterator[None]:
    """Some cases switch the grad mode and leave it so."""
    before = torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_grad_enabled(before)
