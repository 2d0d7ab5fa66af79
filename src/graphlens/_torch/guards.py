"""Which guards of a frame's earlier compilations fail, all of them, at the time they are checked.

Torch's own message names for each compilation only the first guard that fails, which may not be
the one that matters. While that message is logged, the frame and its cache entries are in reach,
and every entry has its guards as text that Python can evaluate, as torch does itself for
``TORCH_LOGS=recompiles_verbose``. Seen on torch 2.11, 2.13 and 2.14.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import torch

from graphlens._torch.compiling_frame import compiling_frame
from graphlens._torch.probes import probe
from graphlens.analysis.guard_terms import (
    NOT_THERE,
    GuardKind,
    GuardTerms,
    guard_terms,
    matter,
    without_local_scope,
)

# Guards beyond these are not evaluated: it takes some 10 microseconds each.
MOST_GUARDS = 4000
MOST_CHARACTERS = 120
# Never about what a call brings, and most of the guards: modules, builtins, marks on tensors.
_CONSTANT = re.compile(r"__import_torch|__builtins_dict__|_dynamo_\w+'\)|^torch\.|^utils_device")
_TENSOR = re.compile(
    r"^check_tensor\((?P<source>.*?), (?P<type>[^,]+), DispatchKeySet\((?P<keys>.*?)\), "
    r"torch\.(?P<dtype>\w+), device=(?P<device>\w+), requires_grad=(?P<requires_grad>\w+), "
    r"size=\[(?P<size>.*?)\], stride=\[(?P<stride>.*?)\]\)"
)
_GONE = (KeyError, AttributeError, IndexError)
# Numbers of ``c10::ScalarType``, which the global state has.
_DTYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
    7: "float64", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16",
}  # fmt: skip
_STATE = "___check_global_state() against "


def failed_guards(reasons: Iterable[tuple[str, str]]) -> dict[str, list[dict[str, str]]]:
    """All guards that fail, by compile id of the cache entry; to be called from the log handler.

    Args:
        reasons: Torch's own as (compile id, guard). Some of these guards, of symbolic sizes and of
            the training flag, are not among the texts of the cache entry.

    Returns:
        Each guard as the fields of `GuardTerms`; empty where torch is not about to log reasons.
    """
    frame = compiling_frame()
    if frame is None:
        return {}
    known = frame.f_locals
    scope = {**known["locals"], "L": known["locals"], "G": known["globals"]}
    left = MOST_GUARDS
    failed: dict[str, list[GuardTerms]] = {}
    for entry in _cache_entries(known):
        manager = entry.guard_manager
        parts = list(getattr(manager, "code_parts", ()))[:left]
        left -= len(parts)
        values = {**(getattr(manager, "closure_vars", None) or {}), **scope}
        names = getattr(manager, "global_scope", None) or known["globals"]
        failed[str(entry.compile_id)] = [
            terms for part in parts for terms in _failing(part, names, values)
        ]
    for compile_id, guard in reasons:
        named = _with_actual(guard_terms(guard), known["globals"], scope)
        others = failed.setdefault(compile_id, [])
        if named.source and all(matter(named) != matter(other) for other in others):
            others.insert(0, named)
    return {
        compile_id: [_as_data(terms) for terms in _without_parts(found)]
        for compile_id, found in failed.items()
    }


def _without_parts(found: Sequence[GuardTerms]) -> Iterator[GuardTerms]:
    """What is gone is told once, and not of what a shorter container no longer holds."""
    told = [
        without_local_scope(terms.source)
        for terms in found
        if terms.kind in ("container_length", "collection_length")
    ]
    for terms in found:
        source = without_local_scope(terms.source)
        if terms.actual == NOT_THERE:
            if any(source == other or source.startswith((f"{other}.", f"{other}["))
                   for other in told):  # fmt: skip
                continue
            told.append(source)
        yield terms


def _cache_entries(known: Mapping[str, Any]) -> Iterator[Any]:
    """Newest first; a list since torch 2.13, a chain before."""
    entries = known.get("cache_entries_for_reasons")
    if entries is not None:
        yield from entries
        return
    entry = known.get("cache_entry")
    while entry is not None:
        yield entry
        entry = entry.next


def _failing(
    part: str, names: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[GuardTerms]:
    if part.startswith(_STATE):
        yield from _changed_state(part.removeprefix(_STATE))
    elif tensor := _TENSOR.match(part):
        yield from _changed_tensor(tensor, names, values)
    elif not _CONSTANT.search(part):
        try:
            holds = bool(eval(_expression(part), {**names}, {**values}))  # noqa: S307
        except _GONE:
            yield from _gone(guard_terms(part), names, values)
            return
        except Exception:  # noqa: BLE001  text that is no expression
            return
        if not holds:
            yield _as_enum(part, _with_actual(guard_terms(part), names, values), values)


def _gone(
    terms: GuardTerms, names: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[GuardTerms]:
    """The guard where its own key or attribute is missing, and not something within torch."""
    if not terms.source:
        return
    try:
        eval(terms.source, {**names}, {**values})  # noqa: S307
    except _GONE:
        aspect = "" if terms.aspect == "identity" else terms.aspect
        yield GuardTerms(terms.kind, terms.source, aspect, terms.expected, NOT_THERE)
    except Exception:  # noqa: BLE001, S110  text that is no expression
        pass


def _expression(part: str) -> str:
    """``___check_type_id(L['x'], 1), type=<class 'list'>`` without what follows the call."""
    return re.sub(r"(?<=\)), type=<.*$|\s*\(HINT: .*$", "", part, flags=re.S)


def _with_actual(
    terms: GuardTerms, names: Mapping[str, Any], values: Mapping[str, Any]
) -> GuardTerms:
    if terms.actual or not terms.source:
        return terms
    try:
        value = eval(terms.source, {**names}, {**values})  # noqa: S307
        actual = _aspect_of(value, terms.aspect)
    except Exception:  # noqa: BLE001  the value cannot be read again
        return terms
    kind = terms.kind
    if kind == "container_length" and not isinstance(value, list):
        kind = "collection_length"
    return GuardTerms(kind, terms.source, terms.aspect, terms.expected, actual)


def _as_enum(part: str, terms: GuardTerms, values: Mapping[str, Any]) -> GuardTerms:
    """The identity of an enum's member as its value."""
    number = re.search(r", (\d+)\)", part)
    if terms.kind != "object_identity" or number is None:
        return terms
    try:
        value = eval(terms.source, {}, {**values})  # noqa: S307
    except Exception:  # noqa: BLE001  the value cannot be read again
        return terms
    if not isinstance(value, Enum):
        return terms
    known = [short_value(one) for one in type(value) if id(one) == int(number[1])]
    before = known[0] if known else terms.expected
    return GuardTerms(terms.kind, terms.source, "", before, short_value(value))


def _aspect_of(value: Any, aspect: str) -> str:
    name, _, index = aspect.partition(" ")
    if name == "length":
        return str(len(value))
    if name == "keys":
        return ", ".join(str(key) for key in value) or "none"
    if name == "type":
        return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if name == "dimension":
        return str(int(value.shape[int(index)]))
    if name == "stride":
        return str(value.stride()[int(index)])
    if name == "identity":
        return short_value(value) if isinstance(value, Enum) else "another"
    return short_value(value)


def short_value(value: Any) -> str:
    """A value as the user would write it; only the type of what has no short text of its own."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        text = repr(value)
        return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value)
    if isinstance(value, torch.Tensor):
        return f"a tensor of {str(value.dtype).removeprefix('torch.')}"
    return f"a {type(value).__qualname__}"


def _changed_tensor(
    match: re.Match[str], names: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[GuardTerms]:
    source = match["source"]
    try:
        value = eval(source, {**names}, {**values})  # noqa: S307
    except _GONE:
        yield GuardTerms("argument_type", source, "", "a tensor", NOT_THERE)
        return
    except Exception:  # noqa: BLE001  the value cannot be read again
        return
    if not isinstance(value, torch.Tensor):
        yield GuardTerms("argument_type", source, "type", "a tensor", _aspect_of(value, "type"))
        return
    properties: tuple[tuple[GuardKind, str, str, str], ...] = (
        ("argument_type", "type", match["type"], type(value).__qualname__),
        ("tensor_dtype", "dtype", match["dtype"], str(value.dtype).removeprefix("torch.")),
        ("requires_grad", "requires_grad", match["requires_grad"], str(value.requires_grad)),
    )
    for kind, aspect, expected, actual in properties:
        if expected != actual:
            yield GuardTerms(kind, source, aspect, expected, actual)
    size, stride = _numbers(match["size"]), _numbers(match["stride"])
    if len(size) != value.dim():
        yield GuardTerms("tensor_rank", source, "rank", str(len(size)), str(value.dim()))
        return
    numbers: tuple[tuple[GuardKind, str, list[str], Sequence[int]], ...] = (
        ("tensor_size", "dimension", size, value.shape),
        ("tensor_stride", "stride", stride, value.stride()),
    )
    for kind, aspect, wanted, got in numbers:
        for index, (expected_number, actual_number) in enumerate(zip(wanted, got, strict=False)):
            if expected_number not in ("None", str(int(actual_number))):
                yield GuardTerms(
                    kind, source, f"{aspect} {index}", expected_number, str(int(actual_number))
                )


def _numbers(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _changed_state(recorded: str) -> Iterator[GuardTerms]:
    before, now = json.loads(recorded), json.loads(_global_state())
    for name in sorted({**before, **now}):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            for field in sorted(k for k in {**old, **new} if old.get(k) != new.get(k)):
                yield _state_terms(f"{name}.{field}", old.get(field), new.get(field))
        else:
            yield _state_terms(name, old, new)


def _state_terms(name: str, old: Any, new: Any) -> GuardTerms:
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        old, new = pairs[0]
    if name.endswith("dtype"):
        old, new = _DTYPES.get(old, old), _DTYPES.get(new, new)
    return GuardTerms("global_state", aspect=name, expected=str(old), actual=str(new))


def _global_state() -> str:
    from torch._C._dynamo.guards import GlobalStateGuard

    return str(GlobalStateGuard().__getstate__())


def _as_data(terms: GuardTerms) -> dict[str, str]:
    return {
        "kind": terms.kind,
        "source": without_local_scope(terms.source),
        "aspect": terms.aspect,
        "expected": without_local_scope(terms.expected),
        "actual": terms.actual,
    }


@probe("guards of a recompile", seen_on="2.11, 2.13, 2.14")
def _probe_guards() -> str:
    from torch._dynamo.guards import GuardManagerWrapper

    json.loads(_global_state())
    if not hasattr(GuardManagerWrapper(), "code_parts"):
        raise TypeError("GuardManagerWrapper has no code_parts")
    return "texts and global state found"
