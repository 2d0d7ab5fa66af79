"""Torch's short notation for values, such as ``f32[4, s0][s0, 1]cpu``, read into data.

The notation is that of ``GraphModule.print_readable`` (seen on torch 2.11, 2.13 and 2.14).
"""

import re

from graphlens.model import Dim, TensorSpec

# torch.utils._dtype_abbrs, torch 2.14
DTYPES = {
    "bf16": "bfloat16",
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
    "f4e2m1fnx2": "float4_e2m1fn_x2",
    "c32": "complex32",
    "c64": "complex64",
    "c128": "complex128",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "b8": "bool",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "b16": "bits16",
}
ABBREVIATIONS = {dtype: short for short, dtype in DTYPES.items()}

_TENSOR = re.compile(
    r"(?P<dtype>[a-z]+\d+\w*)\[(?P<shape>[^\[\]]*)\]"
    r"(?:\[(?P<stride>[^\[\]]*)\])?(?P<device>[a-z]+(?::\d+)?)?"
)


def parse_value(text: str) -> tuple[tuple[TensorSpec, ...], str]:
    """Reads an annotation.

    Returns:
        The tensors in it, and the text itself where there is none (such as ``Sym(s0)``).
    """
    tensors = tuple(_tensor(match) for match in _TENSOR.finditer(text))
    return tensors, "" if tensors else text


def dims(text: str) -> tuple[Dim, ...]:
    """Sizes from ``4, 8*s0, Max(1, s1)``; numbers become int, expressions stay text."""
    return tuple(dim(part) for part in _split(text))


def dim(text: str) -> Dim:
    """One size: an int, or the expression as text."""
    return int(text) if text.lstrip("-").isdigit() else text


def _tensor(match: re.Match[str]) -> TensorSpec:
    stride = match["stride"]
    return TensorSpec(
        shape=dims(match["shape"]),
        dtype=DTYPES.get(match["dtype"], match["dtype"]),
        stride=None if stride is None else dims(stride),
        device=match["device"] or "",
    )


def _split(text: str) -> list[str]:
    """Splits at the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
