"""The GPUs that a preview knows by name, and a user's own from a file's text.

Limits of multiprocessors are those of the table "Technical Specifications per Compute Capability"
in NVIDIA's CUDA C++ Programming Guide (13.0); counts, memory and peaks those of the data sheet
named with each product. Peaks are dense: half of what a sheet gives "with sparsity".
"""

from typing import NamedTuple

import msgspec

from graphlens.errors import UsageError
from graphlens.model import Peaks, Target
from graphlens.suggestions import nearest_first

_K, _M, _G = 1 << 10, 1 << 20, 1 << 30


class _Limits(NamedTuple):
    """Of a multiprocessor, by compute capability."""

    threads: int
    blocks: int
    shared_bytes: int
    shared_bytes_per_block: int


_LIMITS = {
    (7, 5): _Limits(1024, 16, 64 * _K, 64 * _K),
    (8, 0): _Limits(2048, 32, 164 * _K, 163 * _K),
    (8, 6): _Limits(1536, 16, 100 * _K, 99 * _K),
    (8, 9): _Limits(1536, 24, 100 * _K, 99 * _K),
    (9, 0): _Limits(2048, 32, 228 * _K, 227 * _K),
    (10, 0): _Limits(2048, 32, 228 * _K, 227 * _K),
}
_REGISTERS = 64 * _K  # of all of these


def _target(
    name: str,
    title: str,
    capability: tuple[int, int],
    multiprocessors: int,
    l2_bytes: int,
    memory_bytes: int,
    bandwidth: float,
    peaks: Peaks,
    source: str,
) -> Target:
    return Target(
        name=name,
        title=title,
        capability=capability,
        multiprocessors=multiprocessors,
        registers=_REGISTERS,
        l2_bytes=l2_bytes,
        memory_bytes=memory_bytes,
        bandwidth=bandwidth,
        peaks=peaks,
        source=source,
        **_LIMITS[capability]._asdict(),
    )


_HOPPER = Peaks(
    float32=67e12,
    float64=34e12,
    matrix_tf32=494.7e12,
    matrix_float16=989.4e12,
    matrix_bfloat16=989.4e12,
)

TARGETS = {
    target.name: target
    for target in (
        _target(
            "t4", "NVIDIA T4", (7, 5), 40, 4 * _M, 16 * _G, 320e9,
            Peaks(float32=8.1e12, float64=0.25e12, matrix_float16=65e12),
            "NVIDIA T4 data sheet; NVIDIA Turing architecture whitepaper",
        ),
        _target(
            "a100", "NVIDIA A100 SXM 80 GB", (8, 0), 108, 40 * _M, 80 * _G, 2.039e12,
            Peaks(float32=19.5e12, float64=9.7e12, matrix_tf32=156e12,
                  matrix_float16=312e12, matrix_bfloat16=312e12),
            "NVIDIA A100 data sheet; NVIDIA Ampere architecture whitepaper",
        ),
        _target(
            "l4", "NVIDIA L4", (8, 9), 58, 48 * _M, 24 * _G, 300e9,
            Peaks(float32=30.3e12, float64=0.47e12, matrix_tf32=60e12,
                  matrix_float16=121e12, matrix_bfloat16=121e12),
            "NVIDIA L4 data sheet; NVIDIA Ada architecture whitepaper",
        ),
        _target(
            "h100", "NVIDIA H100 SXM", (9, 0), 132, 50 * _M, 80 * _G, 3.35e12, _HOPPER,
            "NVIDIA H100 data sheet; NVIDIA Hopper architecture whitepaper",
        ),
        _target(
            "h200", "NVIDIA H200 SXM", (9, 0), 132, 50 * _M, 141 * _G, 4.8e12, _HOPPER,
            "NVIDIA H200 data sheet; NVIDIA Hopper architecture whitepaper",
        ),
        _target(
            "b200", "NVIDIA B200 (HGX)", (10, 0), 148, 126 * _M, 180 * _G, 7.7e12,
            Peaks(float32=75e12, float64=37e12, matrix_tf32=1.1e15,
                  matrix_float16=2.25e15, matrix_bfloat16=2.25e15),
            "NVIDIA HGX B200 data sheet; NVIDIA Blackwell architecture brief",
        ),
    )
}  # fmt: skip


def known_target(name: str) -> Target:
    """A target of the table.

    Raises:
        UsageError: There is none of that name.
    """
    found = TARGETS.get(name.lower())
    if found is None:
        valid = nearest_first(name.lower(), TARGETS)
        raise UsageError(
            f"Unknown target {name!r}. Known, nearest first: {valid}. For another GPU give a .json "
            "file with its properties; `graphlens preview --print-target h100` prints one to start "
            "from."
        )
    return found


def target_from_json(text: str, path: str) -> Target:
    """A user's own target.

    Args:
        text: JSON, an object with the attributes of `Target`.
        path: Of the file, for errors.

    Raises:
        UsageError: The text is no such object.
    """
    try:
        return msgspec.json.decode(text, type=Target)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UsageError(
            f"{path} is no target: {error}. `graphlens preview --print-target h100` prints one to "
            "start from."
        ) from error


def target_json(target: Target) -> str:
    """A target as a file that `target_from_json` reads."""
    return msgspec.json.format(msgspec.json.encode(target), indent=2).decode() + "\n"
