"""Ways to run a graph, by the texts that a user gives, and made ready for one graph."""

import ast
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphlens._torch.dynamo import backend_names
from graphlens._torch.inductor import inductor_config
from graphlens.capture.backend import inner_compiler
from graphlens.checks.graph_calls import CompiledFn, GraphCall, WatchedGraph
from graphlens.checks.onednn import CandidateUnavailable, compile_onednn
from graphlens.checks.watcher import graph_copy
from graphlens.errors import UsageError
from graphlens.model import Unavailable
from graphlens.suggestions import nearest_first

__all__ = ["Candidate", "CandidateUnavailable", "Ready", "make", "parse", "parse_all"]

ONEDNN = "onednn"
_FORM = "inductor:MODE, inductor:OPTION=VALUE,... or inductor:MODE,OPTION=VALUE"


@dataclass(frozen=True)
class Candidate:
    """One way to run a graph.

    Attributes:
        name: As the user wrote it.
        backend: ``eager``, ``onednn`` or a registered backend's name.
        mode: Of Inductor; None for its default.
        options: Of Inductor.
    """

    name: str
    backend: str
    mode: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_eager(self) -> bool:
        """Whether it runs the graph as it was captured."""
        return self.backend == "eager"

    @property
    def keywords(self) -> dict[str, Any]:
        """``mode`` and ``options``, those that are given, as ``torch.compile`` hands them on."""
        given = {"mode": self.mode, "options": self.options}
        return {name: value for name, value in given.items() if value}


@dataclass
class Ready:
    """A candidate that can run a graph.

    Attributes:
        run: Takes the graph's inputs one by one.
        compile_seconds: To make it ready; what it compiles at its first run not included.
        reused: Whether the run had it already.
    """

    run: CompiledFn
    compile_seconds: float | Unavailable
    reused: bool = False


def parse(text: str) -> Candidate:
    """Reads one candidate.

    Args:
        text: ``eager``, ``aot_eager``, ``inductor``, ``inductor:max-autotune``,
            ``inductor:option=value,option=value``, ``onednn``, or any registered backend's name.

    Raises:
        UsageError: The name, mode or option is unknown, or a value has the wrong type.
    """
    text = text.strip()
    backend, colon, given = text.partition(":")
    if backend not in (names := _names()):
        shown = nearest_first(backend, names)
        raise UsageError(f"There is no candidate {backend!r}. Valid, nearest first: {shown}.")
    if not colon:
        return Candidate(text, backend)
    if backend != "inductor":
        raise UsageError(f"Candidate {text!r}: {backend} takes no options. Give {_FORM}.")
    mode, options = _inductor_options(text, given)
    try:
        inductor_config(mode, options)
    except RuntimeError as error:
        first = str(error).strip().partition("\n")[0]
        raise UsageError(f"Candidate {text!r}: {first}") from error
    return Candidate(text, backend, mode, options)


def parse_all(texts: Iterable[str]) -> list[Candidate]:
    """Reads candidates, each once, in order.

    Raises:
        UsageError: One cannot be read, or there is none.
    """
    found = {one.name: one for one in map(parse, texts)}
    if not found:
        raise UsageError("There is no candidate. Give at least one, such as eager,inductor.")
    return list(found.values())


def make(
    candidate: Candidate,
    watched: WatchedGraph,
    call: GraphCall,
    used: str | None = None,
    mutates: bool = False,
) -> Ready:
    """Makes a candidate ready to run a graph.

    What the run itself compiled is used again. Others are compiled for the inputs of this call,
    with fixed sizes also where Dynamo's graph has symbolic ones.

    Args:
        candidate: To make ready.
        watched: The graph; stays as it is.
        call: Whose inputs and modes it is compiled for.
        used: Name of the candidate that the run was compiled with; None for the graph's backend
            without mode and options.
        mutates: Whether the graph changes its inputs.

    Raises:
        CandidateUnavailable: It cannot run this graph; the message says why.
    """
    if candidate.is_eager:
        return Ready(watched.gm, 0.0)
    if candidate.name == (used if used is not None else watched.graph.inner_backend):
        if watched.compiled is None:
            raise CandidateUnavailable(f"it raised in the run: {_first_line(watched.error)}")
        return Ready(watched.compiled, watched.graph.compile_seconds, reused=True)
    start = time.perf_counter()
    compiled = _compiled(candidate, watched, call, mutates)
    return Ready(compiled, time.perf_counter() - start)


def _compiled(
    candidate: Candidate, watched: WatchedGraph, call: GraphCall, mutates: bool
) -> CompiledFn:
    if candidate.backend == ONEDNN:
        return compile_onednn(graph_copy(watched.gm), call, mutates)
    compiler = inner_compiler(candidate.backend, candidate.keywords)
    try:
        with call.around.restored():
            return compiler(graph_copy(watched.gm), call.fresh(), lambda *_: None)
    except Exception as error:
        raise CandidateUnavailable(f"it did not compile: {_first_line(error)}") from error


def _names() -> list[str]:
    """Backends, those that only wrap others left out."""
    registered = [
        name
        for name in backend_names()
        if not name.startswith("graphlens") and not name.endswith("_TESTING_ONLY")
    ]
    return [*registered, ONEDNN]


def _inductor_options(text: str, given: str) -> tuple[str | None, dict[str, Any]]:
    mode: str | None = None
    options: dict[str, Any] = {}
    for part in given.split(","):
        name, equals, value = part.partition("=")
        if equals:
            options[name.strip()] = _value(value.strip())
        elif mode is None and part.strip():
            mode = part.strip()
        else:
            raise UsageError(f"Candidate {text!r} cannot be read. Give {_FORM}.")
    return mode, options


def _value(text: str) -> Any:
    named: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _first_line(error: BaseException | None) -> str:
    if error is None:
        return "nothing was compiled"
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"
