"""What bounds a kernel, from hand calculation."""

import pytest

from graphlens.analysis.kernel_bounds import bound_of, product_dtypes
from graphlens.analysis.kernel_times import TimedKernels, with_kernel_times
from graphlens.model import (
    NO_CEILINGS,
    Ceilings,
    Kernel,
    KernelBuffer,
    Measured,
    ProductSpeed,
    Report,
    Speed,
    Unavailable,
    from_json,
    to_json,
)
from graphlens.renderers.kernel_time_words import bound_text, brief
from report_corpus import CEILINGS, ENVIRONMENT, timed_graph


def measured(value):
    return Measured(median=value, low=value, high=value, rounds=9)


# 10 GB/s of copy, 100 GFLOP/s of float32 products, 1 us a call.
MACHINE = Ceilings(
    device="cpu", threads=1, copy=Speed(best=10e9, usual=measured(9e9)), copy_bytes=2**29,
    products=(ProductSpeed(dtype="float32", size=1024,
                           speed=Speed(best=100e9, usual=measured(90e9))),),
    call_seconds=1e-6, cache_bytes=1_000_000,
)  # fmt: skip


def kernel(seconds, bytes_, flops, dtype="float32"):
    out = KernelBuffer(name="buf0", shape=(4,), dtype=dtype, bytes=16)
    written = bytes_ if isinstance(bytes_, Unavailable) else bytes_ // 3
    read = bytes_ if isinstance(bytes_, Unavailable) else bytes_ - written
    return Kernel(
        name="k", language="C++", call="k(buf0)", outputs=(out,), read_bytes=read,
        written_bytes=written, flops=flops, seconds=measured(seconds),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "bytes_", "flops", "said"),
    [
        # 6.2 MB in a millisecond are 6.2 GB/s
        (1e-3, 6_200_000, 1_000_000, "memory-bound at 62 % of copy speed"),
        # A cache may hold 1 MB
        (
            1e-4,
            600_000,
            1_000,
            "memory-bound at 60 % of copy speed, unless its data was in the cache",
        ),
        # 48 MFLOP in a millisecond are 48 GFLOP/s
        (1e-3, 1_000_000, 48_000_000, "compute-bound at 48 % of matrix-product speed"),
        # Nearer to the product than to the copy
        (1e-3, 6_000_000, 70_000_000, "compute-bound at 70 % of matrix-product speed"),
        (1e-3, 7_000_000, 60_000_000, "memory-bound at 70 % of copy speed"),
        (1e-3, 18_000_000, 1_000_000, "data from the cache, at 1.80x copy speed"),
        (1e-3, 18_000_000, 60_000_000, "compute-bound at 60 % of matrix-product speed"),
        (1e-3, 1_200_000, 3_000_000, "neither bound (copy 12 %, product 3 %)"),
        (1e-3, 1_200_000, 3_000, "neither bound (copy 12 %, product below 1 %)"),
        # 4 us, of which calling takes 1
        (4e-6, 4_000, 1_000, "too short, mostly its call"),
    ],
)
def test_by_hand(seconds, bytes_, flops, said):
    assert bound_text(bound_of(kernel(seconds, bytes_, flops), MACHINE)) == said


def test_what_is_not_known_is_no_share():
    unknown = Unavailable("it takes a part of its input")
    bound = bound_of(kernel(1e-3, unknown, 50_000_000), MACHINE)
    assert (bound.by, bound.of_copy, bound.of_product) == ("compute", unknown, 0.5)
    neither = bound_of(kernel(1e-3, unknown, 5_000_000), MACHINE)
    assert bound_text(neither) == "neither bound (product 5 %)"
    half = bound_of(kernel(1e-3, 5_000_000, 5, dtype="float16"), MACHINE)
    assert (half.by, half.of_copy) == ("memory", 0.5)
    assert "float16" in half.of_product.reason
    assert bound_of(kernel(1e-3, unknown, unknown), MACHINE) == unknown
    assert bound_of(kernel(1e-3, 1, 1), NO_CEILINGS) == NO_CEILINGS
    assert isinstance(bound_of(kernel(0.0, 1, 1), MACHINE), Unavailable)


def test_products_are_timed_in_the_dtypes_of_kernels():
    some = [kernel(1, 1, 1, "bfloat16"), kernel(1, 1, 1), kernel(1, 1, 0, "float64"),
            kernel(1, 1, Unavailable("?"), "float16"), kernel(1, 1, 1, "int64")]  # fmt: skip
    assert product_dtypes(some) == ("float32", "bfloat16")


def test_brief():
    assert brief("memory-bound at 62 % of copy speed") == "memory-bound at 62 %"
    unless = "memory-bound at 60 % of copy speed, unless its data was in the cache"
    assert brief(unless) == "memory-bound at 60 %, or cache"
    assert brief("compute-bound at 48 % of matrix-product speed") == "compute-bound at 48 %"


def test_times_in_a_report_and_in_json():
    graph = timed_graph()
    report = Report(environment=ENVIRONMENT, graphs=(graph,))
    seconds = tuple(each.seconds for each in graph.kernels)
    timed = {
        graph.id: TimedKernels(seconds, graph.kernel_times),
        "other": TimedKernels((), graph.kernel_times),
    }
    made = with_kernel_times(report, timed, CEILINGS)
    assert made.graphs == (graph,)
    assert [each.bound.by for each in graph.kernels[:2]] == ["memory", "compute"]
    assert graph.kernels[0].bound.of_copy == pytest.approx(0.6)
    assert graph.kernels[1].bound.of_product == pytest.approx(0.5)
    assert from_json(to_json(made)) == made
    why = Unavailable("the graph was not timed")
    missing = with_kernel_times(report, {graph.id: TimedKernels((), why)}, why).graphs[0]
    assert missing.kernel_times == why
    assert {each.seconds for each in missing.kernels} == {why}
    assert {each.bound for each in missing.kernels} == {why}
