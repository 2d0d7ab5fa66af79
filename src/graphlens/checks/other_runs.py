"""The program run in other ways, to tell where a disagreement begins."""

from dataclasses import dataclass, field
from typing import Any

import torch

from graphlens._torch.isolation import can_isolate, isolation_keywords
from graphlens._torch.settings import changed_settings
from graphlens.capture.options import lens_options
from graphlens.checks.program_results import CallResult
from graphlens.checks.programs import Function, Program, Wrap
from graphlens.checks.watcher import Watcher
from graphlens.model import Unavailable


@dataclass
class OtherRuns:
    """Runs a program again, each time from the same state; see `whole_accuracy.Again`.

    Attributes:
        program: To run.
        keywords: For ``torch.compile``.
        backends: Those it used, for whoever has to tell its compilations from the user's.
    """

    program: Program
    keywords: dict[str, Any]
    backends: list[Any] = field(default_factory=list)

    def eager(self) -> list[CallResult]:
        """Without compiling."""
        return self.program.run(_as_it_is)

    def with_backend(self, name: str) -> list[CallResult]:
        """Compiled with another backend."""
        return self.program.run(self._compiled(name))

    def each_call_anew(self) -> list[CallResult] | Unavailable:
        """Captured, without a backend, and from the start for each call."""
        if not can_isolate():
            return Unavailable("this torch keeps compilations of one function together")
        compiled = self._compiled("eager")

        def wrap(function: Function) -> Function:
            return lambda *args, **kwargs: compiled(function)(*args, **kwargs)

        return self.program.run(wrap)

    def with_setting(self, name: str, value: object) -> list[CallResult]:
        """Captured, without a backend, with a setting of Dynamo changed."""
        with changed_settings({name: value}, {}):
            return self.program.run(self._compiled("eager"))

    def draws(self) -> tuple[bool, bool]:
        """Whether eager, and whether captured code, takes random numbers from torch."""
        return self._draws(_as_it_is), self._draws(self._compiled("eager"))

    def _draws(self, wrap: Wrap) -> bool:
        drawn: list[bool] = []

        def noticing(function: Function) -> Function:
            inner = wrap(function)

            def call(*args: Any, **kwargs: Any) -> Any:
                before = torch.get_rng_state()
                try:
                    return inner(*args, **kwargs)
                finally:
                    drawn.append(not torch.equal(before, torch.get_rng_state()))

            return call

        self.program.run(noticing)
        return any(drawn)

    def _compiled(self, name: str) -> Wrap:
        watcher = Watcher(lens_options({"show": "none", "inner": name}), {}, keep=False)
        backend = watcher.backend
        self.backends.append(backend)

        def wrap(function: Function) -> Function:
            keywords: dict[str, Any] = {**isolation_keywords(), **self.keywords}
            made: Any = torch.compile(function, backend=backend, **keywords)
            return made  # type: ignore[no-any-return]

        return wrap


def _as_it_is(function: Function) -> Function:
    return function
