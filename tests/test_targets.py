"""GPUs by name and from files, and what follows from their numbers, calculated by hand."""

import pytest

from graphlens.analysis.occupancy import occupancy
from graphlens.analysis.roofline import estimate
from graphlens.analysis.targets import TARGETS, known_target, target_from_json, target_json
from graphlens.errors import UsageError
from graphlens.model import Kernel, KernelBuffer, Unavailable

H100, A100, T4 = TARGETS["h100"], TARGETS["a100"], TARGETS["t4"]


def test_the_targets_that_are_promised_are_there() -> None:
    assert set(TARGETS) == {"t4", "a100", "l4", "h100", "h200", "b200"}
    assert all(target.source and target.bandwidth > 1e11 for target in TARGETS.values())


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_read_back_from_its_file(name: str) -> None:
    assert target_from_json(target_json(TARGETS[name]), "own.json") == TARGETS[name]


def test_a_wrong_name_gives_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"Unknown target 'h10'. Known, nearest first: h100"):
        known_target("h10")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"name": "x"}', target_json(T4).replace("320", '"320')]
)
def test_a_wrong_file_says_what_is_wrong(text: str) -> None:
    with pytest.raises(UsageError, match=r"own\.json is no target: .*--print-target h100"):
        target_from_json(text, "own.json")


@pytest.mark.parametrize(
    ("target", "warps", "registers", "shared", "resident", "limits"),
    [
        # 65,536 registers / (32 x 32) are 64 warps: all that fit.
        (H100, 4, 32, 0, 64, ()),
        # 40 x 32 = 1,280 registers a warp: 51 warps, by fours 48, 24 blocks of two.
        (H100, 2, 40, 0, 48, ("registers",)),
        # 33 x 32 = 1,056, given as 1,280: as with 40.
        (H100, 2, 33, 0, 48, ("registers",)),
        # 255 x 32 = 8,160, given as 8,192: 8 warps, one block.
        (H100, 8, 255, 0, 8, ("registers",)),
        # Blocks of one warp: 32 of them.
        (H100, 1, 16, 0, 32, ("blocks",)),
        # 48 KiB and 1 KiB of the system's: 4 blocks in 228 KiB.
        (H100, 4, 32, 48 << 10, 16, ("shared memory",)),
        (A100, 4, 32, 48 << 10, 12, ("shared memory",)),
        # T4 holds 32 warps in 16 blocks, and keeps no shared memory for itself.
        (T4, 4, 32, 0, 32, ()),
        (T4, 1, 32, 0, 16, ("blocks",)),
        (T4, 4, 32, 32 << 10, 8, ("shared memory",)),
        (TARGETS["l4"], 4, 32, 0, 48, ()),
    ],
)
def test_occupancy(target, warps, registers, shared, resident, limits) -> None:
    found = occupancy(target, warps, registers, shared)

    assert (found.warps, found.limits) == (resident, limits)
    assert found.most == target.threads // 32


def kernel(language="Triton", read=0, written=0, flops=0, dtype="float32") -> Kernel:
    return Kernel(
        name="k", language=language, call="k()", read_bytes=read, written_bytes=written,
        flops=flops, inputs=(KernelBuffer(name="x", shape=(1,), dtype=dtype),),
    )  # fmt: skip


def test_a_kernel_that_moves_much_is_bound_by_memory() -> None:
    found = estimate(kernel(read=3_350_000, written=0, flops=1000), H100)

    assert found.seconds == pytest.approx(1e-6)
    assert (found.bound, found.unit) == ("memory", "float32")


def test_a_matrix_product_uses_what_its_dtype_may() -> None:
    product = {"language": "extern", "read": 10, "flops": 989_400_000_000}

    assert estimate(kernel(dtype="float16", **product), H100).seconds == pytest.approx(1e-3)
    assert estimate(kernel(**product), H100).unit == "float32"
    assert estimate(kernel(**product), H100, tf32=True).unit == "matrix_tf32"
    assert estimate(kernel(dtype="bfloat16", **product), T4).unit == "float32"
    assert estimate(kernel(dtype="float64", **product), H100).unit == "float64"


def test_what_is_not_known_stays_so() -> None:
    why = Unavailable("rows by index")

    assert estimate(kernel(read=why), H100) is why
    assert estimate(kernel(flops=why), H100) is why
