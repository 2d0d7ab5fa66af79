"""The program run in other ways, to tell where a disagreement begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch

from graphlens._torch.isolation import can_isolate, isolation_keywords
from graphlens._torch.settings import changed_settings, has_setting
from graphlens.capture.options import lens_options
from graphlens.checks.left_out import CacheUse, name_of, plain_functions, uncached
from graphlens.checks.program_results import CallResult
from graphlens.checks.programs import Function, Program, Wrap
from graphlens.checks.watcher import Watcher
from graphlens.model import Unavailable


@dataclass
class OtherRuns:
    """Runs a program again, each time from the same state; see `disagreements.Again`.

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

    def with_backend(
        self, name: str | Function, keywords: Mapping[str, Any] = MappingProxyType({})
    ) -> list[CallResult]:
        """Compiled anew with a backend, and with keywords for it."""
        return self._run(self._compiled(name, keywords))

    def each_call_anew(self, backend: str = "eager") -> list[CallResult] | Unavailable:
        """Captured, and compiled with a backend, from the start for each call."""
        if not can_isolate():
            return Unavailable("this torch keeps compilations of one function together")
        compiled = self._compiled(backend)

        def wrap(function: Function) -> Function:
            return lambda *args, **kwargs: compiled(function)(*args, **kwargs)

        return self._run(wrap)

    def with_setting(
        self, name: str, value: object, backend: str = "eager"
    ) -> list[CallResult] | Unavailable:
        """Captured, and compiled with a backend, with a setting of Dynamo changed."""
        if not has_setting(name):
            return Unavailable(f"this torch has no setting {name}")
        with changed_settings({name: value}, {}):
            return self._run(self._compiled(backend))

    def draws(self) -> tuple[bool, bool]:
        """Whether eager, and whether captured code, takes random numbers from torch."""
        return self._draws(_as_it_is), self._draws(self._compiled("eager"))

    def without_caches(self) -> tuple[list[CallResult], tuple[str, ...]]:
        """Eager without the caches of functions that only eager uses, and what those are."""
        eager, captured = CacheUse(), CacheUse()
        self.program.run(eager.noticing)
        compiled = self._compiled("eager")
        self._run(lambda function: captured.noticing(compiled(function)))
        found = [one for key, one in eager.hits.items() if key not in captured.calls]
        if not found:
            return [], ()
        with uncached(found):
            return self.program.run(_as_it_is), tuple(name_of(one) for one in found)

    def without_custom_backward(self) -> tuple[list[CallResult], tuple[str, ...]]:
        """Eager with the derivatives of forwards for custom backwards, and whose those are."""
        with plain_functions() as used:
            results = self.program.run(_as_it_is)
        return results, tuple(used)

    def _run(self, wrap: Wrap) -> list[CallResult]:
        """Where compilations are not kept apart, those of other runs count for the limit."""
        if can_isolate():
            return self.program.run(wrap)
        with changed_settings({"recompile_limit": _MANY, "accumulated_recompile_limit": _MANY}, {}):
            return self.program.run(wrap)

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

        self._run(noticing)
        return any(drawn)

    def _compiled(
        self, name: str | Function, keywords: Mapping[str, Any] = MappingProxyType({})
    ) -> Wrap:
        options = lens_options({"show": "none", "inner": name})
        watcher = Watcher(options, dict(keywords), keep=False)
        backend = watcher.backend
        self.backends.append(backend)

        def wrap(function: Function) -> Function:
            every: dict[str, Any] = {**isolation_keywords(), **self.keywords}
            made: Any = torch.compile(function, backend=backend, **every)
            return made  # type: ignore[no-any-return]

        return wrap


_MANY = 1_000


def _as_it_is(function: Function) -> Function:
    return function
