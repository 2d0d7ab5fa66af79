"""What in a graph is not the same each time: random numbers, and operators without an order."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from graphlens.checks.errors import dense
from graphlens.checks.graph_calls import GraphCall, Outcome, run


@dataclass(frozen=True)
class Unsteady:
    """What of a graph gives other results each time.

    Attributes:
        random: Names of nodes that draw random numbers, in order; the same numbers each time
            from the same state, but compiled code draws others.
        changing: The first node whose result differs between two runs in eager from the same
            random state; None where there is none in the forward pass.
        results: Numbers of outputs, and of inputs with gradients, that differ so.
    """

    random: tuple[str, ...] = ()
    changing: str | None = None
    results: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @property
    def repeats(self) -> bool:
        """Whether two runs in eager give the same bits."""
        return not any(self.results)


def random_nodes(gm: torch.fx.GraphModule, call: GraphCall) -> tuple[str, ...]:
    """Names of the nodes that draw random numbers.

    Found by running the graph in eager, forward, and looking at the generators before and after
    each node. So dropout counts only where it drops, and any operator counts that draws.

    Args:
        gm: A Dynamo graph.
        call: To make.
    """
    found: list[str] = []
    states = _states()

    def done(node: torch.fx.Node, _: Any) -> None:
        nonlocal states
        now = _states()
        if not all(map(torch.equal, states, now)):
            found.append(node.name)
        states = now

    def started() -> None:
        nonlocal states
        states = _states()

    run(_Observed(gm, done, started).call, call, backward=False)
    return tuple(found)


def unsteady(
    gm: torch.fx.GraphModule, call: GraphCall, eager: Outcome, backward: bool = True
) -> Unsteady:
    """Runs a graph in eager again and compares bits.

    Args:
        gm: A Dynamo graph.
        call: To make.
        eager: What it gave before, from the same random state.
        backward: Whether that was with the backward pass.
    """
    again = run(gm, call, backward)
    outputs = _unequal(eager.outputs, again.outputs)
    gradients = _unequal(eager.gradients, again.gradients)
    changing = _first_change(gm, call) if outputs else None
    return Unsteady(random=random_nodes(gm, call), changing=changing, results=(outputs, gradients))


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values are the same, any NaN as good as another."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor) and a == b
    a, b = dense(a), dense(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.itemsize == 1 and a.is_floating_point():
        a, b = a.view(torch.uint8), b.view(torch.uint8)
    if torch.equal(a, b):
        return True
    if not (a.is_floating_point() or a.is_complex()):
        return False
    return bool(((a == b) | (torch.isnan(a) & torch.isnan(b))).all())


class _Observed(torch.fx.Interpreter):
    def __init__(
        self,
        gm: torch.fx.GraphModule,
        done: Callable[[torch.fx.Node, Any], None],
        started: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(gm)
        self.done = done
        self.started = started

    def call(self, *inputs: Any) -> Any:
        self.started()
        return self.run(*inputs)

    def run_node(self, n: torch.fx.Node) -> Any:
        result = super().run_node(n)
        self.done(n, result)
        return result


def _states() -> list[torch.Tensor]:
    states = [torch.get_rng_state()]
    if torch.cuda.is_available():
        states += torch.cuda.get_rng_state_all()
    return states


def _unequal(before: list[Any], after: list[Any]) -> tuple[int, ...]:
    pairs = zip(before, after, strict=False)
    return tuple(number for number, pair in enumerate(pairs) if not same_bits(*pair))


def _first_change(gm: torch.fx.GraphModule, call: GraphCall) -> str | None:
    runs: list[dict[str, str]] = []
    for _ in range(2):
        marks: dict[str, str] = {}
        runs.append(marks)

        def done(node: torch.fx.Node, result: Any, marks: dict[str, str] = marks) -> None:
            if node.op not in ("placeholder", "output"):
                marks[node.name] = _mark(result)

        run(_Observed(gm, done).call, call, backward=False)
    first, second = runs
    return next((name for name, mark in first.items() if second.get(name) != mark), None)


def _mark(value: Any) -> str:
    """A short text that differs where bits do."""
    digest = hashlib.blake2b(digest_size=16)
    for leaf in pytree.tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            flat = dense(leaf).cpu().contiguous().reshape(-1)
            digest.update(flat.view(torch.uint8).numpy().tobytes())
        else:
            digest.update(type(leaf).__name__.encode())
    return digest.hexdigest()
