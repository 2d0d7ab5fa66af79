"""Running a program's operators in float64 while it believes in its own dtypes.

A `Wide` tensor has the dtype, size and strides that the program sees, and holds the values in
float64 (complex128). So autocast, promotion, casts that copy or do not, and autograd's formulas do
what they do in eager; only the kernels get other dtypes. Seen on torch 2.11, 2.13 and 2.14.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing

from graphlens._torch.probes import probe

# Told of each new value in float64, the dtype the program sees, and about how many products each
# of its elements is the sum of; 1 where it is no such sum.
Finish = Callable[[torch.Tensor, torch.dtype, float], torch.Tensor]

# Their results are made of the bits of their arguments, or of steps between representable numbers.
_OF_BITS = frozenset({"aten::view.dtype", "aten::nextafter", "aten::nextafter_"})
# Views with another dtype than what they are views of.
_CHANGE_DTYPE = frozenset({"aten::view.dtype", "aten::view_as_real", "aten::view_as_complex"})
# Tagged as drawing random numbers (2.14), as what it chooses may; does not draw itself.
_CHOOSES = "aten::_fused_sdp_choice"


_IN_PARTS = (
    "native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "native_layer_norm",
    "native_group_norm", "native_batch_norm_backward", "cudnn_batch_norm_backward",
    "native_layer_norm_backward", "native_group_norm_backward", "_softmax", "_log_softmax",
    "_softmax_backward_data", "_log_softmax_backward_data", "gelu", "gelu_backward", "silu",
    "silu_backward", "tanh_backward", "sigmoid_backward",
)  # fmt: skip


def widened_dtype(dtype: torch.dtype) -> torch.dtype | None:
    """What a dtype is widened to; None where it is as wide already, or has no fractions."""
    if dtype.is_complex:
        return None if dtype == torch.complex128 else torch.complex128
    return torch.float64 if dtype.is_floating_point and dtype != torch.float64 else None


class Wide(torch.Tensor):
    """A tensor of a narrow dtype whose values are kept in float64."""

    wide: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, wide: torch.Tensor, dtype: torch.dtype, requires_grad: bool = False) -> "Wide":
        """Around values in float64.

        Args:
            cls: This class.
            wide: The values.
            dtype: What the program sees.
            requires_grad: Whether it is a leaf that needs a gradient.
        """
        made: Wide = torch.Tensor._make_wrapper_subclass(
            cls, wide.size(), strides=wide.stride(), storage_offset=wide.storage_offset(),
            dtype=dtype, device=wide.device, requires_grad=requires_grad,
        )  # fmt: skip
        made.wide = wide
        return made

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Wide({self.wide!r}, {self.dtype})"

    def __tensor_flatten__(self) -> tuple[list[str], torch.dtype]:
        return ["wide"], self.dtype

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        raise TypeError(f"{func} ran on widened tensors outside of the widened run")


class Widening(TorchDispatchMode):
    """Runs operators in float64.

    Attributes:
        own_precision: Names of operators that ran in their own dtypes, without float64 kernels.
    """

    supports_higher_order_operators = True

    def __init__(self, finish: Finish | None = None, in_parts: bool = False) -> None:
        """Prepares a run.

        Args:
            finish: What is done to each new value.
            in_parts: Whether normalizations, softmaxes and the like run as the simple operators
                that compilers make of them, so that each of these is finished.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        self.finish = finish
        self.parts = _parts() if in_parts else {}
        self.own_precision: dict[str, None] = {}
        self.seen: dict[Any, tuple[torch.dtype | None, ...]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return self.own_dtypes(func, args, kwargs, note=True)
        if func.namespace == "prim" or _name(func) in ("aten::is_pinned", "profiler::_record"):
            return func(*pytree.tree_map(_inner, args), **pytree.tree_map(_inner, kwargs))
        seen = self.dtypes_of_results(func, args, kwargs)
        if not any(seen) and not _narrow(args, kwargs):
            return func(*args, **kwargs)
        if func in self.parts:
            with self:
                out = self.parts[func](*args, **kwargs)
            if out is not NotImplemented:
                return out
        if _name(func) in _OF_BITS or func.namespace not in ("aten", "prims"):
            out = self.own_dtypes(func, args, kwargs, note=True)
        else:
            out = self.in_float64(func, args, kwargs, seen)
        return self.aliased(func, args, kwargs, out)

    def dtypes_of_results(
        self, func: Any, args: Any, kwargs: Any
    ) -> tuple[torch.dtype | None, ...]:
        """What the program would see, found by running the operator as it is, once a kind."""
        if (same := _dtype_of_aliased(func, args)) is not None:
            return (same,)
        key = (func, *map(_kind, pytree.tree_leaves((args, kwargs))))
        if key not in self.seen:
            own = pytree.tree_map(_own, (args, kwargs))
            state = _random_states(args, kwargs)
            try:
                result = func(*own[0], **own[1])
            finally:
                _restore(state)
            leaves = pytree.tree_leaves(result)
            self.seen[key] = tuple(v.dtype if _is_tensor(v) else None for v in leaves)
        return self.seen[key]

    def in_float64(self, func: Any, args: Any, kwargs: Any, seen: Any) -> Any:
        wide_args, wide_kwargs = _widened_arguments(func, args, kwargs, seen)
        random = torch.Tag.nondeterministic_seeded in func.tags and _name(func) != _CHOOSES
        state = _random_states(args, kwargs) if random else []
        try:
            out = func(*wide_args, **wide_kwargs)
        except (RuntimeError, NotImplementedError, TypeError):
            _restore(state)
            return self.own_dtypes(func, args, kwargs, note=True)
        if random and _changed(state):
            _restore(state)
            return self.own_dtypes(func, args, kwargs, note=False)
        self.write_back(func, (args, kwargs), (wide_args, wide_kwargs))
        return self.wrapped(func, out, seen, wide_args)

    def own_dtypes(self, func: Any, args: Any, kwargs: Any, note: bool) -> Any:
        """Runs an operator as the program asked, on values rounded to what it sees."""
        if note:
            self.own_precision[f"torch.ops.{func}"] = None
        own_args, own_kwargs = pytree.tree_map(_own, (args, kwargs))
        out = func(*own_args, **own_kwargs)
        if isinstance(func, torch._ops.OpOverload):
            self.write_back(func, (args, kwargs), (own_args, own_kwargs))
        return pytree.tree_map(_wrapped_own, out)

    def wrapped(self, func: Any, out: Any, seen: tuple[torch.dtype | None, ...], args: Any) -> Any:
        leaves, spec = pytree.tree_flatten(out)
        if len(leaves) != len(seen):
            seen = seen[:1] * len(leaves)  # a list, as long as the sizes say, of one dtype
        fresh = not _is_view(func)
        made = []
        for place, (leaf, dtype) in enumerate(zip(leaves, seen, strict=True)):
            wide = widened_dtype(dtype) if dtype is not None and _is_tensor(leaf) else None
            if wide is None or dtype is None:
                made.append(leaf.to(dtype) if dtype is not None and leaf.dtype != dtype else leaf)
                continue
            value = leaf.to(wide)
            if self.finish is not None and fresh:
                value = self.finish(value, dtype, _products(func, args, place, value))
            made.append(Wide(value, dtype))
        return pytree.tree_unflatten(made, spec)

    def write_back(self, func: Any, given: Any, used: Any) -> None:
        """Gives what an operator wrote to the tensors that it was given."""
        for number, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            target = _argument(given, number, argument.name)
            source = _argument(used, number, argument.name)
            pairs = zip(pytree.tree_leaves(target), pytree.tree_leaves(source), strict=True)
            for to, value in pairs:
                if _is_tensor(to):
                    self._write(func, to, value)

    def _write(self, func: Any, to: torch.Tensor, value: torch.Tensor) -> None:
        kept = to.wide if isinstance(to, Wide) else to
        result = value
        if isinstance(to, Wide) and self.finish is not None:
            result = self.finish(value.to(kept.dtype), to.dtype, 1.0)
        if result is not kept and torch.Tag.inplace_view not in func.tags:
            if kept.shape != result.shape:
                raise NotImplementedError(f"{func} resizes what it writes")
            kept.copy_(result)

    def aliased(self, func: Any, args: Any, kwargs: Any, out: Any) -> Any:
        """Results that are arguments, or views of them, as autograd expects them."""
        if not any(result.alias_info is not None for result in func._schema.returns):
            return out
        leaves = [leaf for leaf in pytree.tree_leaves(out) if _is_tensor(leaf)]
        sources = [leaf for leaf in pytree.tree_leaves(args) if _is_tensor(leaf)]
        if _is_view(func) and any(type(leaf) is not type(sources[0]) for leaf in leaves):
            return out
        return return_and_correct_aliasing(func, args, kwargs, out)  # type: ignore[no-untyped-call]


@functools.cache
def _parts() -> dict[Any, Callable[..., Any]]:
    from torch._decomp import get_decompositions

    found = [getattr(torch.ops.aten, name, None) for name in _IN_PARTS]
    return dict(get_decompositions([operator for operator in found if operator is not None]))


_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "convolution")
_OF_CONVOLUTION = ((0, 2), (0, 1))  # the factors of its gradients: of the input, of the weight


def _products(func: Any, args: Any, place: int, value: torch.Tensor) -> float:
    """About how many products an element of a result is the sum of.

    The sizes of the factors and of the result tell: of a matrix product they are M K, K N and M N,
    and the root of what is left over is K.
    """
    name = func._schema.name.removeprefix("aten::").rstrip("_")
    factors = [one for one in args if _is_tensor(one)][-2:]
    if name == "convolution_backward" and place < len(_OF_CONVOLUTION):
        factors = [args[at] for at in _OF_CONVOLUTION[place]]
    elif name == "convolution":
        factors = [args[0], args[1]]
    elif name not in _PRODUCTS:
        return 1.0
    if len(factors) < 2 or not value.numel():
        return 1.0
    return max(1.0, math.sqrt(factors[0].numel() * factors[1].numel() / value.numel()))


def _name(func: Any) -> str:
    return str(func._schema.name) + (f".{o}" if (o := func._schema.overload_name) else "")


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _inner(value: Any) -> Any:
    return value.wide if isinstance(value, Wide) else value


def _own(value: Any) -> Any:
    """A copy in the dtype the program sees, with the same strides where they can be."""
    if isinstance(value, Wide):
        return value.wide.to(value.dtype)
    return value.clone() if _is_tensor(value) else value


def _wrapped_own(value: Any) -> Any:
    if not _is_tensor(value) or isinstance(value, Wide):
        return value
    wide = widened_dtype(value.dtype)
    return value if wide is None else Wide(value.to(wide), value.dtype)


def _narrow(args: Any, kwargs: Any) -> bool:
    """Whether a tensor with a dtype to widen is among the arguments."""
    return any(
        _is_tensor(leaf) and widened_dtype(leaf.dtype) is not None
        for leaf in pytree.tree_leaves((args, kwargs))
    )


def _widened_arguments(func: Any, args: Any, kwargs: Any, seen: Any) -> tuple[Any, Any]:
    def widened(value: Any) -> Any:
        if isinstance(value, Wide):
            return value.wide
        if isinstance(value, torch.dtype):
            return widened_dtype(value) or value
        if _is_tensor(value) and (wide := widened_dtype(value.dtype)) is not None:
            return value.to(wide)
        return value

    made_args, made_kwargs = pytree.tree_map(widened, (args, kwargs))
    made = seen[0] if seen else None
    takes_dtype = any(argument.name == "dtype" for argument in func._schema.arguments)
    no_tensors = not any(map(_is_tensor, pytree.tree_leaves((args, kwargs))))
    if made is not None and no_tensors and takes_dtype and kwargs.get("dtype") is None:
        made_kwargs = {**made_kwargs, "dtype": widened_dtype(made) or made}
    return made_args, made_kwargs


def _kind(value: Any) -> Any:
    """What of an argument says which dtype a result has."""
    if _is_tensor(value):
        return value.dtype, value.dim() == 0, value.layout
    if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format, str)):
        return value
    # Reductions over all dimensions, masks of wanted gradients and the like change how many
    # tensors come back, but numbers do not.
    return value if isinstance(value, bool) or value is None else type(value)


def _dtype_of_aliased(func: Any, args: Any) -> torch.dtype | None:
    """The dtype of what is the first argument again, or a view of it."""
    result = func._schema.returns[0] if func._schema.returns else None
    if result is None or result.alias_info is None or not args or not _is_tensor(args[0]):
        return None
    first = func._schema.arguments[0].alias_info
    if first is None or _name(func) in _CHANGE_DTYPE:
        return None
    dtype: torch.dtype = args[0].dtype
    return dtype


def _argument(arguments: Any, number: int, name: str) -> Any:
    args, kwargs = arguments
    return args[number] if number < len(args) else kwargs.get(name)


@functools.cache
def _is_view(func: Any) -> bool:
    """Whether results share storage with arguments, or are arguments."""
    return any(result.alias_info is not None for result in func._schema.returns)


def _random_states(args: Any, kwargs: Any) -> list[tuple[torch.Generator, torch.Tensor]]:
    found = [torch.default_generator]
    found += [v for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Generator)]
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        found += list(torch.cuda.default_generators)
    return [(generator, generator.get_state()) for generator in found]


def _changed(states: list[tuple[torch.Generator, torch.Tensor]]) -> bool:
    return any(not torch.equal(generator.get_state(), state) for generator, state in states)


def _restore(states: list[tuple[torch.Generator, torch.Tensor]]) -> None:
    for generator, state in states:
        generator.set_state(state)


@probe("running in float64 below autograd", seen_on="2.11, 2.13, 2.14")
def _probe_widened() -> str:
    value = Wide(torch.ones(2, dtype=torch.float64), torch.float32, requires_grad=True)
    if not _parts():
        raise TypeError("there are no decompositions")
    with Widening():
        result = value * (1 + 2**-40)
        torch.autograd.backward(result.sum())
        found = result.detach(), value.grad
    if result.dtype != torch.float32 or not isinstance(result, Wide):
        raise TypeError(f"the result is {type(result).__name__} of {result.dtype}")
    if not all(isinstance(v, Wide) and float(v.wide[0]) == 1 + 2**-40 for v in found):
        raise TypeError("the result or the gradient is not in float64")
    return "forward and backward"
