"""NVIDIA's libdevice for Triton's interpreter, which has none: each function by torch's own.

Triton's wrappers of libdevice choose a symbol by the types of the arguments and ask the interpreter
for it. Here the symbol is looked up by its name without prefix and type. Seen on Triton 3.6, 3.7
and 3.8.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

_PREFIX = "__nv_"

# Of torch by the same name, and those that torch calls otherwise or has in parts.
_SAME = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "fmax", "fmin", "fmod",
    "hypot", "isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "nextafter",
    "pow", "rsqrt", "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    **{name: getattr(torch, name) for name in _SAME},
    "cbrt": lambda x: torch.copysign(x.abs().pow(1 / 3), x),
    "cyl_bessel_i0": torch.special.i0,
    "cyl_bessel_i1": torch.special.i1,
    "ddiv_rn": torch.div,
    "dsqrt_rn": torch.sqrt,
    "erfcx": torch.special.erfcx,
    "exp10": lambda x: torch.pow(10.0, x),
    "fabs": torch.abs,
    "fast_cos": torch.cos,
    "fast_exp": torch.exp,
    "fast_log": torch.log,
    "fast_sin": torch.sin,
    "fast_tanh": torch.tanh,
    "fdiv_rn": torch.div,
    "finite": torch.isfinite,
    "fma": lambda x, y, z: x * y + z,
    "frsqrt_rn": torch.rsqrt,
    "fsqrt_rn": torch.sqrt,
    "ilogb": lambda x: torch.frexp(x).exponent - 1,
    "isfinite": torch.isfinite,
    "j0": torch.special.bessel_j0,
    "j1": torch.special.bessel_j1,
    "llrint": torch.round,
    "llround": lambda x: torch.copysign((x.abs() + 0.5).floor(), x),
    "nearbyint": torch.round,
    "normcdf": torch.special.ndtr,
    "normcdfinv": torch.special.ndtri,
    "powi": torch.pow,
    "rint": torch.round,
    "round": lambda x: torch.copysign((x.abs() + 0.5).floor(), x),
    "tgamma": lambda x: torch.exp(torch.lgamma(x)),
    "y0": torch.special.bessel_y0,
    "y1": torch.special.bessel_y1,
}


def function_of(symbol: str) -> Callable[..., torch.Tensor]:
    """What a symbol such as ``__nv_erff`` computes.

    Raises:
        NotImplementedError: It is not in the table.
    """
    name = symbol.removeprefix(_PREFIX)
    for tried in (name, name[:-1] if name.endswith(("f", "d")) else name):
        if tried in FUNCTIONS:
            return FUNCTIONS[tried]
    raise NotImplementedError(f"the interpreter has no {symbol}")


class Libdevice:
    """Stands in kernels for Triton's module of that name.

    Args:
        real: Triton's module for NVIDIA GPUs.
        semantic: Of the interpreter.
    """

    def __init__(self, real: ModuleType, semantic: Any) -> None:
        self._real = real
        self._semantic = semantic

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._real, name)

        def call(*args: Any) -> Any:
            return function(*args, _semantic=self._semantic)

        return call


def extern_elementwise(
    handle: type, _library: str, _path: str, symbol: str, arguments: list[Any], kind: Any, _: bool
) -> Any:
    """For the interpreter's builder: computes a symbol on the values of its arguments."""
    from triton.runtime.interpreter import _get_np_dtype

    function = function_of(symbol)
    given = [torch.from_numpy(one.data.copy()) for one in arguments]
    made = function(*given).numpy().astype(_get_np_dtype(kind.scalar))
    return handle(made, kind.scalar)
