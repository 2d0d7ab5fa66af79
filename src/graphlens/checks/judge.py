"""Whether what compiled code gave is what eager gave, but for rounding."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from graphlens.checks.closeness import (
    FACTOR,
    ExactCase,
    FloatCase,
    allowed,
    close,
    epsilon,
)
from graphlens.checks.errors import comparable, dense, distance, errors, short
from graphlens.checks.graph_calls import GraphCall, Outcome, WatchedGraph
from graphlens.checks.random_nodes import same_bits
from graphlens.checks.reference import RandomRounding, rounded
from graphlens.checks.result_names import Names, names_in
from graphlens.model import Errors, TensorAccuracy, Unavailable

NOISE = ((1.0, 0.75), (2.0, 0.75), (16.0, 1.0 / FACTOR))
"""Runs rounded at random, made only where eager alone does not explain a difference.

Each with the largest move of a result before it is rounded, in units in the last place, and how
much of the distance it leads to counts. The last shows what `FACTOR` times the error can do where
that is not `FACTOR` times as much: a sign that flips.
"""

MORE_NOISE = ((128.0, 1.0 / FACTOR), (128.0, 1.0))
"""As `NOISE`, after it, in graphs where eager itself is far from the reference in some tensor, or
where all that is left are gradients near to what noise explains, and the derivative jumps (`NEAR`).

Measured on ResNet-18 in training with two images of 32 x 32: its last normalizations have two
values each, errors grow tenfold in each of them, and compiled flips the sign of 2 of 1024 values
before a ReLU, which eager and runs with 16 units do not.
"""

SENSITIVE = "sensitive input: eager itself is far from the reference"

_ORDER = ("agrees", "rounding", "precision_changed", "not_comparable", "diverges")


def judge(
    watched: WatchedGraph,
    call: GraphCall,
    eager: Outcome,
    compiled: Outcome,
    reference: Outcome | None,
    names: Names | None = None,
    number: int = 0,
) -> list[TensorAccuracy]:
    """Compares every output, gradient and changed input of one call.

    A tensor ``agrees`` where it is equal, or within what ``torch.testing.assert_close`` allows for
    its dtype, relative to its own size. Else it is ``rounding`` where compiled is at most
    `FACTOR` times as far from the reference as eager, or as the graph run with each result
    rounded up or down at random. Else it ``diverges``.

    Args:
        watched: The graph.
        call: That was made.
        eager: What eager gave.
        compiled: What compiled code gave.
        reference: From `graphlens.checks.reference`; None where there is none.
        names: Of the results; None for those by the graph's metadata.
        number: Which call of the run.
    """
    names = names or names_in(watched)
    if eager.error is not None or compiled.error is not None:
        return [_of_errors(eager.error, compiled.error, number)]
    cases = list(_cases(call, eager, compiled, reference, names))
    for case in cases:
        case.begin()
    waiting = [case for case in cases if case.waits]
    lowest = lowest_precision(watched.gm)
    if waiting and reference is not None:
        waiting = _with_noise(watched, call, waiting, NOISE, 0)
        if any(case.sensitive(lowest) for case in cases) or _at_a_jump(watched.gm, waiting):
            _with_noise(watched, call, waiting, MORE_NOISE, len(NOISE))
    return sorted((case.result(number, lowest) for case in cases), key=_badness)


NEAR = 64.0
"""Gradients within so many times the most that rounding explains are looked at with more noise,
where the graph's derivative jumps.

Measured on ResNet-18 in training with four images of 224 x 224 (torch 2.14): five to seven of 123
tensors, all gradients, are 2 to 9 times that far away, their cosine to the reference 0.999996. Few
ReLUs of a million are open in compiled code and closed in eager, at values that are 0 but for
rounding; how much each of them matters varies a lot.
"""

_JUMPS = re.compile(
    r"(relu|hardtanh|hardswish|threshold|abs|clamp|clip|max|min|where|topk|sort|median)", re.I
)


def _at_a_jump(gm: torch.fx.GraphModule, waiting: Sequence["_Case"]) -> bool:
    """Whether all that no noise explained so far may come from sides taken at a jump."""
    near = [
        isinstance(case.numbers, FloatCase)
        and case.part == "gradients"
        and not case.numbers.lost
        and case.numbers.times <= NEAR
        for case in waiting
    ]
    names = (str(getattr(node.target, "__name__", node.target)) for node in gm.graph.nodes)
    return bool(near) and all(near) and any(map(_JUMPS.search, names))


def _with_noise(
    watched: WatchedGraph,
    call: GraphCall,
    waiting: list["_Case"],
    noise: tuple[tuple[float, float], ...],
    first: int,
) -> list["_Case"]:
    """Makes runs rounded at random while tensors wait for an explanation; those that still do."""
    for seed, (ulps, counts) in enumerate(noise, first):
        if not waiting:
            break
        outcome, _ = rounded(watched.gm, call, rounding=RandomRounding(seed, ulps))
        if outcome.error is not None:
            break
        for case in waiting:
            case.learn(outcome, counts)
        # Values that rounding decides may need several runs to be seen.
        waiting = [case for case in waiting if case.waits]
    return waiting


def graph_verdict(tensors: Sequence[TensorAccuracy]) -> tuple[str, str]:
    """Verdict and reason of a graph: the worst of its tensors'."""
    if not tensors:
        return "agrees", ""
    worst = min(tensors, key=_badness)
    same = [tensor for tensor in tensors if tensor.verdict == worst.verdict]
    if worst.verdict == "agrees":
        return "agrees", ""
    others = f" ({len(same)} of {len(tensors)} tensors)" if len(tensors) > 1 else ""
    return worst.verdict, f"{worst.name}: {worst.reason}{others}"


def lowest_precision(gm: torch.fx.GraphModule) -> float:
    """The largest epsilon of the dtypes that a graph computes in; 0 where all are exact."""
    found = 0.0
    for node in gm.graph.nodes:
        value = node.meta.get("example_value", node.meta.get("val"))
        for leaf in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(leaf, torch.Tensor):
                found = max(found, epsilon(leaf.dtype))
    return found


@dataclass
class _Case:
    """One tensor of a call: where to find it, and what is known of it."""

    name: str
    role: str
    part: str
    at: int
    eager: Any
    compiled: Any
    truth: Any
    verdict: str = ""
    reason: str = ""
    numbers: FloatCase | ExactCase | None = None
    lenient: bool = field(default=False)

    @property
    def waits(self) -> bool:
        """Whether more runs may still explain a difference."""
        return self.verdict == "" and self.numbers is not None and not self.numbers.within

    def sensitive(self, lowest: float) -> bool:
        return isinstance(self.numbers, FloatCase) and self.numbers.sensitive(lowest)

    def begin(self) -> None:
        if reason := self._structure():
            self.verdict, self.reason = "diverges", reason
            return
        if self.verdict or same_bits(self.eager, self.compiled):
            self.verdict = self.verdict or "agrees"
            return
        dtype = self.eager.dtype
        exact = not (dtype.is_floating_point or dtype.is_complex)
        if not exact and self._agrees():
            self.verdict = "agrees"
            return
        if self.truth is None or comparable(self.truth, self.truth.to(self.truth.dtype)):
            self.verdict, self.reason = "diverges", self._apart("there is no reference")
            return
        kind = ExactCase if exact else FloatCase
        self.numbers = kind(self.eager, self.compiled, self.truth)

    def learn(self, outcome: Outcome, counts: float) -> None:
        found = getattr(outcome, self.part)[self.at]
        if self.numbers is not None and isinstance(found, torch.Tensor):
            self.numbers.learn(found, counts)

    def result(self, number: int, lowest: float) -> TensorAccuracy:
        verdict, reason = self.verdict, self.reason
        if not verdict and self.numbers is not None:
            verdict, reason = self._by_numbers(self.numbers, lowest)
        shown = self.eager if isinstance(self.eager, torch.Tensor) else self.compiled
        tensor = isinstance(shown, torch.Tensor)
        return TensorAccuracy(
            name=self.name,
            role=self.role,
            shape=tuple(shown.shape) if tensor else (),
            dtype=short(shown.dtype) if tensor else type(shown).__name__,
            call=number,
            verdict=verdict,
            reason=reason,
            eager=self._against_truth("of_eager", self.eager),
            compiled=self._against_truth("of_compiled", self.compiled),
            between=_measured(self.compiled, self.eager, "the other has no such tensor"),
        )

    def _against_truth(self, known: str, value: Any) -> Errors | Unavailable:
        if isinstance(self.numbers, FloatCase):
            found: Errors = getattr(self.numbers, known).errors
            return found
        return _measured(value, self.truth, "the reference has no such tensor")

    def _structure(self) -> str:
        """Why the values cannot be compared; also makes numbers tensors."""
        a, b = self.eager, self.compiled
        if self.part == "gradients" and (a is None) != (b is None):
            there = b if a is None else a
            if not bool(torch.count_nonzero(dense(there))):
                # AOTAutograd gives zeros for inputs that do not matter.
                self.verdict = "agrees"
                return ""
            return "there is no gradient in " + ("eager" if a is None else "compiled code")
        if reason := comparable(a, b):
            return f"{_swapped(reason)} in eager"
        if not isinstance(a, torch.Tensor):
            if isinstance(a, (bool, int, float, complex)) and not isinstance(a, torch.SymInt):
                kind = torch.complex128 if isinstance(a, complex) else None
                made = [torch.as_tensor(v, dtype=kind) for v in (a, b)]
                self.eager, self.compiled = made
                self.truth = torch.as_tensor(self.truth) if self.truth is not None else None
            else:
                self.verdict = "agrees"
        return ""

    def _agrees(self) -> bool:
        relative, absolute = allowed(self.eager.dtype)
        if not close(self.compiled, self.eager, relative, absolute):
            return False
        # The absolute tolerance is for numbers around 1; of small ones it would hide anything.
        size = distance(self.eager, self.eager).truth_max
        if close(self.compiled, self.eager, relative, min(absolute, relative * size)):
            return True
        self.lenient = True
        return self.truth is None

    def _by_numbers(self, numbers: FloatCase | ExactCase, lowest: float) -> tuple[str, str]:
        if isinstance(numbers, ExactCase):
            return _exact_verdict(numbers)
        if numbers.within:
            if self.lenient:
                return "agrees", ""
            sensitive = numbers.sensitive(lowest)
            return "rounding", SENSITIVE if sensitive else _distances(numbers)
        if numbers.lost:
            where = "NaN or infinite where eager and the reference are not, or the other way round"
            return "diverges", f"{numbers.lost} elements are {where}"
        hidden = "; within assert_close's absolute tolerance, as the values are small"
        return "diverges", _distances(numbers) + (hidden if self.lenient else "")

    def _apart(self, why: str) -> str:
        found = errors(self.compiled, self.eager)
        return f"off from eager by up to {found.max_abs:.2g}, and {why}"


def _cases(
    call: GraphCall, eager: Outcome, compiled: Outcome, reference: Outcome | None, names: Names
) -> Iterator[_Case]:
    for part in ("outputs", "gradients", "inputs"):
        ours, theirs = getattr(eager, part), getattr(compiled, part)
        true = getattr(reference, part) if reference is not None else []
        for at in range(max(len(ours), len(theirs))):
            one, other, truth = (v[at] if at < len(v) else None for v in (ours, theirs, true))
            if one is None and other is None:
                continue
            if part == "inputs" and not _was_written(call.given[at], one, other):
                continue
            name, role = _name(part, at, names)
            yield _Case(name, role, part, at, eager=one, compiled=other, truth=truth)


def _name(part: str, at: int, names: Names) -> tuple[str, str]:
    if part == "outputs":
        return (names.outputs[at] if at < len(names.outputs) else f"output {at}"), "output"
    name = names.inputs[at] if at < len(names.inputs) else f"input {at}"
    if part == "gradients":
        return f"gradient of {name}", "gradient"
    role = names.roles[at] if at < len(names.roles) else "input"
    return f"{name} after the call", "buffer" if role == "buffer" else "input"


def _was_written(before: Any, eager: Any, compiled: Any) -> bool:
    if not isinstance(before, torch.Tensor):
        return False
    return not (same_bits(before, eager) and same_bits(before, compiled))


def _of_errors(eager: Exception | None, compiled: Exception | None, number: int) -> TensorAccuracy:
    if eager is not None and compiled is not None:
        verdict, reason = "agrees", f"both raise: {_first_line(eager)}"
    elif compiled is not None:
        verdict, reason = "diverges", f"only compiled code raises {_first_line(compiled)}"
    else:
        assert eager is not None  # noqa: S101  one of them is
        verdict, reason = "diverges", f"only eager raises {_first_line(eager)}"
    missing = Unavailable("the call raised")
    return TensorAccuracy(
        name="the call", role="output", shape=(), dtype="", call=number, verdict=verdict,
        reason=reason, eager=missing, compiled=missing, between=missing,
    )  # fmt: skip


def _first_line(error: Exception) -> str:
    text = (str(error).strip() or "without a message").splitlines()[0]
    return f"{type(error).__name__}: {text}"


def _exact_verdict(numbers: ExactCase) -> tuple[str, str]:
    found = errors(numbers.compiled, numbers.eager)
    total = numbers.eager.numel()
    if numbers.within:
        return "rounding", f"rounding decides {found.unequal} of {total} elements"
    return (
        "diverges",
        f"{numbers.outside} of {total} elements differ (by up to {found.max_abs:.4g}), "
        "and rounding does not explain it",
    )


def _distances(numbers: FloatCase) -> str:
    eager, compiled = numbers.of_eager.errors.max_abs, numbers.of_compiled.errors.max_abs
    most = "" if numbers.largest == eager else f", by rounding alone up to {numbers.largest:.2g}"
    beyond = "" if numbers.within else f"; {FACTOR:g} times that is taken for rounding"
    return f"off from the reference by up to {compiled:.2g}, eager by {eager:.2g}{most}{beyond}"


def _measured(value: Any, truth: Any, missing: str) -> Errors | Unavailable:
    if not isinstance(value, torch.Tensor) or not isinstance(truth, torch.Tensor):
        return Unavailable(missing)
    if dense(value).shape != dense(truth).shape:
        return Unavailable("the shapes differ")
    return errors(value, truth)


def _swapped(reason: str) -> str:
    """``comparable`` names eager first; a sentence starts with compiled code."""
    parts = reason.split(" against ")
    kind = parts[0].split(" ")[0]
    if kind in ("shape", "dtype"):
        return f"{kind} {parts[1]} against {parts[0].removeprefix(kind + ' ')}"
    return f"{parts[1]} against {parts[0]}"


def _badness(tensor: TensorAccuracy) -> tuple[int, float]:
    apart = tensor.between.max_rel if isinstance(tensor.between, Errors) else float("inf")
    return -_ORDER.index(tensor.verdict), -apart
