"""A graph's call in float64, or rounded in chosen places: what results are measured against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graphlens._torch.eager import view_base
from graphlens._torch.widened import Wide, Widening, widened_dtype
from graphlens.capture.input_copies import Identity
from graphlens.checks.errors import ulp
from graphlens.checks.graph_calls import GraphCall, Outcome, after_call, run, tangents_for

# Rounds a value in float64 to a dtype; told the node that made it, None in the backward pass.
Rounding = Callable[[torch.Tensor, torch.dtype, str | None], torch.Tensor]

_NAMED = 3


def reference(
    gm: torch.fx.GraphModule, call: GraphCall, backward: bool = True
) -> tuple[Outcome, str]:
    """Runs a graph in float64, forward and backward.

    Each operator runs in float64 (complex128) where it can, at the places where it runs in eager:
    casts, autocast and promotion do what they do there, but nothing is rounded to their dtypes.
    Random numbers are those of eager. An operator without a float64 kernel runs in its own dtypes.

    Args:
        gm: A Dynamo graph; left as it is.
        call: To make.
        backward: Whether to run the backward pass too.

    Returns:
        What it gave, with tensors in float64 where the program sees narrower ones, and what it
        is: ``float64``, ``float64, except ...``, or ``eager: `` with the reason.
    """
    if reason := _not_widened(call.inputs):
        return run(gm, call, backward), f"eager: {reason}"
    outcome, own_precision = rounded(gm, call, backward)
    if outcome.error is not None:
        first = (str(outcome.error).strip() or type(outcome.error).__name__).splitlines()[0]
        return run(gm, call, backward), f"eager: the run in float64 failed ({first})"
    if not own_precision:
        return outcome, "float64"
    named = ", ".join(own_precision[:_NAMED])
    more = len(own_precision) - _NAMED
    also = f" and {more} more" if more > 0 else ""
    return outcome, f"float64, except {named}{also} in their own precision"


def rounded(
    gm: torch.fx.GraphModule,
    call: GraphCall,
    backward: bool = True,
    rounding: Rounding | None = None,
) -> tuple[Outcome, tuple[str, ...]]:
    """Runs a graph with float64 kernels and rounds each operator's result as it is told.

    Args:
        gm: A Dynamo graph.
        call: To make.
        backward: Whether to run the backward pass too.
        rounding: Of each new value; None leaves all in float64.

    Returns:
        What it gave, and the operators that ran in their own dtypes.
    """
    interpreter = _Interpreter(gm)

    def finish(value: torch.Tensor, dtype: torch.dtype, products: float) -> torch.Tensor:
        if isinstance(rounding, RandomRounding):
            return rounding(value, dtype, products=products)
        return rounding(value, dtype, interpreter.current) if rounding else value

    mode = Widening(finish if rounding else None, in_parts=isinstance(rounding, RandomRounding))
    try:
        outcome = _run(interpreter, mode, call, backward)
    except Exception as error:  # noqa: BLE001  any operator may fail on float64
        outcome = Outcome(error=error)
    return outcome, tuple(mode.own_precision)


def to_nearest(value: torch.Tensor, dtype: torch.dtype, _: str | None = None) -> torch.Tensor:
    """Rounds as eager does."""
    return value.to(dtype).to(value.dtype)


@dataclass
class RandomRounding:
    """Rounds up or down at random, a few units in the last place; exact values stay.

    What changes between such runs depends on how results are rounded, and on nothing else. Here
    normalizations and softmaxes run in parts: compilers take them apart, and where the mean is
    large the difference to it has a larger error than the result's last place shows. A sum of
    products is off by the last places of the numbers that were added up, by chance about the root
    of their count times as much: near 0 that is far more than the result's own last place.

    Attributes:
        seed: Of the random choices.
        ulps: Largest move before rounding; in dtypes narrower than float32 at most 1.
    """

    seed: int
    ulps: float = 1.0

    def __post_init__(self) -> None:
        self.generators: dict[torch.device, torch.Generator] = {}

    def __call__(
        self,
        value: torch.Tensor,
        dtype: torch.dtype,
        node: str | None = None,
        products: float = 1.0,
    ) -> torch.Tensor:
        """Rounds a value; ``products`` is of how many an element is the sum."""
        if value.is_complex():
            parts = torch.view_as_real(value.resolve_conj())
            return torch.view_as_complex(self(parts, dtype.to_real(), node, products))
        nearest = value.to(dtype).to(value.dtype)
        exact = (nearest == value) | ~torch.isfinite(nearest)
        most = self.ulps if dtype.itemsize >= 4 else min(self.ulps, 1.0)
        generator = self._generator(value.device)
        move = torch.empty_like(value).uniform_(-most, most, generator=generator)
        step = ulp(value, dtype)
        if products > 1 and dtype.itemsize >= 4:
            step = step + _SUMMED * products**0.5 * ulp(_typical(value), dtype)
        moved = (value + move * step).to(dtype).to(value.dtype)
        return torch.where(exact | ~torch.isfinite(moved), nearest, moved)

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self.generators:
            self.generators[device] = torch.Generator(device).manual_seed(self.seed)
        return self.generators[device]


_SUMMED = 0.25
"""Of the root of a sum's length; one after another would be 0.4, in blocks it is less."""


def _typical(value: torch.Tensor) -> torch.Tensor:
    finite = torch.where(torch.isfinite(value), value, 0.0)
    return finite.square().mean().sqrt()


class _Interpreter(torch.fx.Interpreter):
    """Runs a graph node by node and knows the one that runs."""

    def __init__(self, gm: torch.fx.GraphModule) -> None:
        super().__init__(gm)
        self.current: str | None = None
        # Widened once, as the graph may write to them, and outside of any mode.
        targets = {str(node.target) for node in gm.graph.find_nodes(op="get_attr")}
        held = {target: super(_Interpreter, self).fetch_attr(target) for target in targets}
        self.constants = dict(zip(held, widened_inputs(list(held.values())), strict=True))

    def run_node(self, n: torch.fx.Node) -> Any:
        self.current = n.name
        return super().run_node(n)

    def fetch_attr(self, target: str) -> Any:
        return self.constants[target]


def widened_inputs(inputs: Sequence[Any]) -> list[Any]:
    """Inputs in float64 that share storage as the given ones do; not inside the widened run."""
    widener = _Widener()
    return [widener.widened(v) if isinstance(v, torch.Tensor) else v for v in inputs]


class _Widener:
    """Widens whole storages, each once for a dtype, and tensors as views of them."""

    def __init__(self) -> None:
        self.tensors: dict[int, torch.Tensor] = {}
        self.storages: dict[Any, torch.Tensor] = {}

    def widened(self, tensor: torch.Tensor) -> torch.Tensor:
        if widened_dtype(tensor.dtype) is None:
            return tensor
        if id(tensor) not in self.tensors:
            self.tensors[id(tensor)] = self._made(tensor)
        return self.tensors[id(tensor)]

    def _made(self, tensor: torch.Tensor) -> torch.Tensor:
        base = view_base(tensor)
        if base is not None and base.requires_grad and not tensor.is_leaf:
            with Widening(), torch.enable_grad():
                size, stride, offset = tensor.size(), tensor.stride(), tensor.storage_offset()
                return self.widened(base).as_strided(size, stride, offset)
        with torch.no_grad():
            wide = self._storage(tensor).as_strided(
                tensor.size(), tensor.stride(), tensor.storage_offset()
            )
            wide = wide.conj() if tensor.is_conj() else wide
        leaf = tensor.is_leaf
        made = Wide(wide, tensor.dtype, requires_grad=tensor.requires_grad and leaf)
        return made if leaf else _as_result(made)

    def _storage(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        address = storage.data_ptr() or ("no address", id(tensor))
        key = (tensor.device, address, storage.nbytes(), tensor.dtype)
        if key not in self.storages:
            flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            flat.set_(storage, 0, (storage.nbytes() // tensor.element_size(),), (1,))
            self.storages[key] = flat.to(widened_dtype(tensor.dtype))
        return self.storages[key]


def _as_result(tensor: torch.Tensor) -> torch.Tensor:
    with Widening(), torch.enable_grad():
        made: torch.Tensor = Identity.apply(tensor, torch.zeros((), requires_grad=True))
        return made


def _run(interpreter: _Interpreter, mode: Widening, call: GraphCall, backward: bool) -> Outcome:
    before = widened_inputs(call.fresh())
    for value in before:
        if isinstance(value, torch.Tensor) and value.requires_grad and not value.is_leaf:
            value.retain_grad()
    with call.around.restored(), mode:
        made = interpreter.run(*before)
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    interpreter.current = None
    started: tuple[int, ...] = ()
    if backward and call.around.grad:
        # Made up in the dtypes of eager, so that both start from the same numbers.
        tangents = tangents_for([_stand_in(value) for value in outputs], call.tangents)
        started = tuple(tangents)
        if started:
            wide_tangents = widened_inputs(list(tangents.values()))
            with mode:
                torch.autograd.backward([outputs[n] for n in started], wide_tangents)
    return Outcome(
        outputs=[_values(value) for value in outputs],
        gradients=[_values(v.grad) if isinstance(v, torch.Tensor) else None for v in before],
        inputs=[
            after_call(_values(value), given)
            for value, given in zip(before, call.inputs, strict=True)
        ],
        needs_gradient=started,
    )


def _stand_in(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    made = torch.empty(value.shape, dtype=value.dtype, device=value.device)
    return made.requires_grad_() if value.requires_grad else made


def _values(value: Any) -> Any:
    if isinstance(value, Wide):
        return value.wide
    return value.detach() if isinstance(value, torch.Tensor) else value


def _not_widened(inputs: Sequence[Any]) -> str:
    for value in inputs:
        if not isinstance(value, torch.Tensor):
            continue
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return f"an input is a {type(value).__name__}"
        if value.layout is not torch.strided or value.is_nested or value.is_quantized:
            kind = "nested" if value.is_nested else "quantized" if value.is_quantized else "sparse"
            return f"an input is {kind}"
    return ""
