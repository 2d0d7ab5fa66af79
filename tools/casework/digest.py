"""Values as text: equal text exactly when the values are equal bit for bit."""

import collections.abc
import dataclasses
import hashlib
import random
import re
import sys
from collections.abc import Iterator

import torch

_CLEANUPS = (
    (re.compile(r"(/[\w.\-+]+)*/site-packages/"), ""),
    (re.compile(r"(/[\w.\-+]+)*/lib/python3\.\d+/"), "stdlib/"),
    (re.compile(r"(?<![\w.\-+])(/[\w.\-+]+)+/([\w\-]+\.py)"), r"\2"),
    (re.compile(r"0x[0-9a-f]+"), "0x.."),
    (re.compile(r"(check_(?:obj|type)_id\([^,]*), \d+\)"), r"\1, <id>)"),
    (re.compile(r"backend='\w+'"), "backend='..'"),
)


def short(text: str) -> str:
    """A message without what differs from run to run: folders, addresses, the backend's name."""
    for pattern, replacement in _CLEANUPS:
        text = pattern.sub(replacement, text)
    return text


def flat(value: object, path: str = "out") -> Iterator[tuple[str, object]]:
    """Every leaf of a nested value with its path, in a fixed order."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from flat(getattr(value, field.name, None), f"{path}.{field.name}")
    elif isinstance(value, collections.abc.Mapping):
        for key in value:
            yield from flat(value[key], f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from flat(item, f"{path}[{i}]")
    elif isinstance(value, (set, frozenset)):
        for i, item in enumerate(sorted(value, key=repr)):
            yield from flat(item, f"{path}{{{i}}}")
    elif type(value).__module__ == "numpy":
        yield path, torch.as_tensor(sys.modules["numpy"].asarray(value))
    elif value is None or isinstance(value, (int, float, complex, str, bool, bytes)):
        yield path, value
    else:
        yield path, type(value).__name__


def digest(value: object) -> str:
    """A leaf as text; a tensor's holds type, dtype, shape, strides, a hash and a few values."""
    if value is None or not isinstance(value, torch.Tensor):
        return repr(value)
    tensor = value.detach()
    kind = "" if type(value) in (torch.Tensor, torch.nn.Parameter) else type(value).__name__ + " "
    strided = tensor.layout == torch.strided and not tensor.is_nested
    head = (
        f"{kind}{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape) if strided else ''}"
    )
    if not strided:
        head += f" {tensor.layout}"
    stride = f" stride {list(tensor.stride())}" if strided else ""
    values = _dense(tensor)
    hashed = hashlib.sha256(_bytes(values)).hexdigest()[:16]
    first = ", ".join(f"{v:.9g}" if isinstance(v, float) else str(v) for v in _first(values))
    return f"{head}{stride} {hashed} ({first})"


def generators() -> dict[str, str]:
    """Digests of the states of the random generators of torch, Python and NumPy."""
    states = {
        "torch": bytes(torch.get_rng_state().tolist()),
        "python": repr(random.getstate()).encode(),
    }
    if "numpy" in sys.modules:
        states["numpy"] = repr(sys.modules["numpy"].random.get_state(legacy=False)).encode()
    return {name: hashlib.sha256(state).hexdigest()[:16] for name, state in states.items()}


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.values() if tensor.is_nested else tensor
    tensor = tensor if tensor.layout == torch.strided else tensor.to_dense()
    return tensor.as_subclass(torch.Tensor).resolve_conj().resolve_neg().cpu().contiguous()


def _bytes(values: torch.Tensor) -> bytes:
    """The values' bytes, with every NaN made the same NaN: its sign and payload mean nothing."""
    if values.is_complex():
        values = torch.view_as_real(values)
    if values.is_floating_point():
        values = torch.where(values.isnan(), torch.full_like(values, float("nan")), values)
    return values.reshape(-1).view(torch.uint8).numpy().tobytes()


def _first(values: torch.Tensor, count: int = 3) -> list[object]:
    return values.reshape(-1)[:count].tolist()
