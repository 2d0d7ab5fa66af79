"""Kernels timed in real runs, and what the machine can do."""

import pytest
import torch
from msgspec.structs import replace

import graphlens
from graphlens.analysis.kernel_times import seconds_by_call
from graphlens.checks import mark_clocks
from graphlens.checks.ceilings import cache_bytes, ceilings, copy_bytes
from graphlens.checks.mark_clocks import CudaMarks, WallMarks, mark_clock, mark_seconds
from graphlens.checks.marked_runs import marked_runs
from graphlens.model import Ceilings, Graph, KernelTimes, Measured, Report, Unavailable


def lowered(report: Report) -> list[Graph]:
    return [graph for graph in report.graphs if graph.stage != "dynamo"]


def small():
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(256, 512), nn.LayerNorm(512), nn.GELU(), nn.Linear(512, 64))


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_kernels_of_forward_and_backward():
    report = graphlens.compare(small(), accuracy=False, budget=4)(torch.randn(128, 256))
    forward, backward = lowered(report)
    for graph in (forward, backward):
        times = graph.kernel_times
        assert isinstance(times, KernelTimes), times
        assert all(isinstance(kernel.seconds, Measured) for kernel in graph.kernels)
        total = sum(kernel.seconds.median for kernel in graph.kernels)
        assert total == pytest.approx(times.kernels.median, rel=0.3)
        assert 0 < times.kernels.median < times.program.median
        assert 0 < times.mark_seconds < 5e-6
    # 2 * 128 * 256 * 512 operations against 2 * 128 * 512 * 64
    first, _, last = forward.kernels
    assert first.seconds.median > last.seconds.median
    machine = report.ceilings
    assert isinstance(machine, Ceilings)
    assert [one.dtype for one in machine.products] == ["float32"]
    assert first.bound.of_product == pytest.approx(
        first.flops / first.seconds.median / machine.products[0].speed.best
    )
    text = str(report)
    assert "Slowest kernels" in text
    assert "of the graph's" in text


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_the_program_is_left_as_it_was():
    x = torch.randn(128, 256)
    compiled = torch.compile(small(), backend="graphlens", options={"graphlens.show": "none"})
    with torch.no_grad(), graphlens.record() as lens:
        expected = compiled(x)
        (graph,) = lowered(lens.report())
        runs = marked_runs(graph, WallMarks())
        assert not isinstance(runs, Unavailable)
        module = runs.modules[0]
        names, code = set(vars(module)), module.call.__func__.__code__
        with runs.marked():
            assert module.call.__func__.__code__ is not code
            assert torch.equal(compiled(x), expected)
            compiled(x)
        assert module.call.__func__.__code__ is code
        with pytest.raises(RuntimeError, match="stop"), runs.marked():
            raise RuntimeError("stop")
        assert module.call.__func__.__code__ is code
        assert set(vars(module)) == names
        assert torch.equal(compiled(x), expected)
    (block, interrupted) = runs.blocks
    assert interrupted is None
    assert len(block.calls) == len(graph.kernels)
    assert all(seconds > 0 for seconds in block.calls)
    assert sum(block.calls) < block.whole
    other = "the generated program of the report is not what torch has loaded"
    changed = replace(graph, output_code=str(graph.output_code) + "\n# changed")
    assert marked_runs(changed, WallMarks()).reason == other
    fewer = replace(graph, kernels=graph.kernels[:-1])
    assert "not those of the report" in marked_runs(fewer, WallMarks()).reason


def test_another_backend_has_no_kernels_to_time():
    report = graphlens.compare(torch.relu, inner="aot_eager", accuracy=False, budget=0.5)(
        torch.randn(8)
    )
    assert all(isinstance(graph.kernel_times, Unavailable) for graph in report.graphs)
    assert isinstance(report.ceilings, Unavailable)


def test_ceilings_of_this_machine():
    device = torch.device("cpu")
    found = ceilings(device, ("float32", "bfloat16"))
    assert found.threads == torch.get_num_threads()
    assert found.copy.best >= found.copy.usual.median > 1e8
    assert [one.dtype for one in found.products] == ["float32", "bfloat16"]
    assert all(one.speed.best > 1e7 for one in found.products)
    assert 0 < found.call_seconds < 1e-3
    assert found.copy_bytes == copy_bytes(cache_bytes(device))
    assert 0 <= found.cache_bytes <= 64 * 2**20
    assert copy_bytes(Unavailable("?")) == copy_bytes(2**20) == 128 * 2**20
    assert copy_bytes(100 * 2**20) == 200 * 2**20
    assert copy_bytes(2**30) == 512 * 2**20


def test_marks_of_a_gpu_without_one(monkeypatch):
    device_time, synchronized = [0.0], []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = device_time[0]

        def elapsed_time(self, other):
            return other.at - self.at

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronized.append)
    monkeypatch.setattr(mark_clocks, "_FILL_BYTES", 8)
    clock = CudaMarks(torch.device("cpu"))
    clock.begin(3)
    start = clock.now()
    device_time[0] += 5  # milliseconds
    assert clock.seconds([(7, start, clock.now())]) == [(7, 0.005)]
    assert synchronized == [torch.device("cpu")]
    assert mark_seconds(clock) == 0
    assert isinstance(mark_clock(torch.device("cuda", 0)), CudaMarks)
    assert isinstance(mark_clock(torch.device("cpu")), WallMarks)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.usefixtures("compiles")
def test_kernels_of_a_gpu():
    model = torch.nn.Sequential(
        torch.nn.Linear(4096, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 4096)
    ).cuda()
    with torch.no_grad():
        report = graphlens.compare(model, accuracy=False, budget=10)(
            torch.randn(4096, 4096, device="cuda")
        )
    (graph,) = lowered(report)
    assert isinstance(graph.kernel_times, KernelTimes), graph.kernel_times
    assert graph.kernel_times.covered.median == pytest.approx(1, abs=0.1)
    assert isinstance(report.ceilings, Ceilings)
    assert {kernel.bound.by for kernel in graph.kernels} <= {
        "memory",
        "memory_or_cache",
        "compute",
        "cache",
    }


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
@pytest.mark.parametrize("name", ["bert", "resnet18"])
def test_kernels_add_up_to_the_graph(name):
    model, inputs = MODELS[name]()
    with torch.no_grad():
        report = graphlens.compare(model.eval(), accuracy=False, budget=25)(*inputs)
    (graph,) = lowered(report)
    times = graph.kernel_times
    assert isinstance(times, KernelTimes), times
    # Paired by round, so what else the machine does in a round hits both.
    assert times.covered.median == pytest.approx(1, abs=0.1), times


def bert():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.BertConfig(
        num_hidden_layers=2, hidden_size=256, num_attention_heads=4, intermediate_size=1024,
        vocab_size=1000,
    )  # fmt: skip
    return transformers.BertModel(config), (torch.randint(0, 1000, (4, 64)),)


def resnet18():
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    return models.resnet18(weights=None), (torch.randn(2, 3, 96, 96),)


MODELS = {"bert": bert, "resnet18": resnet18}


def test_a_loop_is_the_sum_of_its_runs():
    assert seconds_by_call((0,), [(0, 1.0)] * 3) == [3.0]
