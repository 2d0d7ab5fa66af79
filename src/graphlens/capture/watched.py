"""What is not put back after a call, for it would cost a copy of the model: told if it changed."""

from collections.abc import Mapping
from typing import Any

import torch

from graphlens._torch.eager import COMPILE_MARKS, attribute_dicts, buffer_dict, version
from graphlens.capture.kept_values import listed
from graphlens.model import Note

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_SAMPLE = 16384
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class WatchedTensors:
    """Notices changes of tensors by version and by a sum over their bits."""

    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self.before = {name: (tensor, _fingerprint(tensor)) for name, tensor in tensors.items()}

    def put_back(self) -> tuple[Note, ...]:
        """A note that names what changed."""
        changed = [
            name
            for name, (tensor, before) in self.before.items()
            if not _same_prints(before, _fingerprint(tensor))
        ]
        if not changed:
            return ()
        return (
            Note(
                code="parameters-changed",
                message=f"The call changed parameters ({listed(changed)}); they were not put back.",
                hint="Explain a function that does not update parameters.",
            ),
        )


class WatchedOptimizers:
    """Notices that an optimizer was stepped, by its state and settings."""

    def __init__(self, optimizers: Mapping[str, torch.optim.Optimizer]) -> None:
        self.before = {name: (held, _state(held)) for name, held in optimizers.items()}

    def put_back(self) -> tuple[Note, ...]:
        """A note that names the optimizers whose state changed."""
        changed = [name for name, (held, before) in self.before.items() if _state(held) != before]
        if not changed:
            return ()
        return (
            Note(
                code="optimizer-changed",
                message=f"The call changed the state of {listed(changed)}; it was not put back.",
                hint="Explain the forward and backward pass without the optimizer's step.",
            ),
        )


class KeptAttributes:
    """Modules' attributes: buffers, the training mode and plain values are put back.

    Other changes are told: what an attribute newly is may belong to others, such as a cache.
    """

    def __init__(self, modules: Mapping[str, torch.nn.Module]) -> None:
        self.before = [
            (
                path,
                module,
                module.training,
                [(held, dict(held)) for held in attribute_dicts(module)],
            )
            for path, module in modules.items()
        ]

    def put_back(self) -> tuple[Note, ...]:
        """Undoes what is safe to undo; a note names the other attributes that changed."""
        changed = []
        for path, module, training, dictionaries in self.before:
            if module.training != training:
                module.training = training
            buffers = buffer_dict(module)
            for held, before in dictionaries:
                names = [name for name in {**before, **held} if not _same(name, held, before)]
                safe = [n for n in names if held is buffers or _is_plain(n, held, before)]
                _restore(held, before, safe)
                left = [name for name in names if name not in safe]
                changed += [f"{path}.{name}" if path else name for name in left]
        if not changed:
            return ()
        return (
            Note(
                code="attributes-changed",
                message=f"The call set attributes ({listed(changed)}); they were not put back.",
                hint="Explain a module whose forward sets no attributes, or a copy of it.",
            ),
        )


def _fingerprint(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Version and a sum, as ``tensor.data`` can be written without a new version.

    The sum is over some 16,000 words spread over a large tensor: what writes ``data`` writes all
    of it, and reading every parameter twice takes a tenth of the time of an explanation.
    """
    return type(tensor), version(tensor), _sum_of_bits(tensor)


def _sum_of_bits(tensor: torch.Tensor) -> torch.Tensor | None:
    try:
        if tensor.is_meta:
            return None
        with torch.no_grad():
            bits = torch.view_as_real(tensor) if tensor.is_complex() else tensor.detach()
            return _as_words(bits).sum(dtype=torch.int64)
    except Exception:  # noqa: BLE001  no values yet (lazy modules), or an unusual kind
        return None


def _as_words(bits: torch.Tensor) -> torch.Tensor:
    """The bits as integers, of 64 where they can be: those need no conversion to be summed."""
    size = bits.element_size()
    whole = (
        bits.is_contiguous() and bits.numel() * size % 8 == bits.storage_offset() * size % 8 == 0
    )
    if not whole:
        return bits.view(_INTEGERS[size])
    words = bits.view(-1).view(torch.int64)
    return words[:: max(1, words.numel() // _SAMPLE)]


def _same_prints(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    # A lazy module's parameter gets another type where it gets values, and no other version.
    if before[:2] != after[:2]:
        return False
    first, second = before[2], after[2]
    return first is None or second is None or torch.equal(first, second)


def _state(optimizer: torch.optim.Optimizer) -> list[Any]:
    """The state and settings as values that can be compared; tensors by identity and version."""
    state = [
        (id(parameter), key, _comparable(value))
        for parameter, values in optimizer.state.items()
        for key, value in (values.items() if isinstance(values, dict) else [("", values)])
    ]
    settings = [
        (key, _comparable(value))
        for group in optimizer.param_groups
        for key, value in group.items()
        if key != "params"
    ]
    return [*state, *settings]


def _comparable(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return id(value), version(value)
    if isinstance(value, tuple):  # such as Adam's betas, which may be tensors
        return tuple(map(_comparable, value))
    return value if isinstance(value, (bool, int, float, str)) else id(value)


def _same(name: str, first: dict[str, Any], second: dict[str, Any]) -> bool:
    if name not in first or name not in second:
        return False
    one, other = first[name], second[name]
    return one is other or (isinstance(one, (bool, int, float, str)) and bool(one == other))


def _is_plain(name: str, held: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether a number, text or None took the place of another; or torch.compile left its mark."""
    if name in COMPILE_MARKS:
        return True
    return all(name in one and isinstance(one[name], _PLAIN) for one in (held, before))


def _restore(held: dict[str, Any], before: dict[str, Any], names: list[str]) -> None:
    """Name by name, so that another thread never sees the module without its attributes."""
    for name in names:
        if name in before:
            held[name] = before[name]
        else:
            del held[name]
