"""Real runs on a CUDA device: the same report as on the CPU, with Triton kernels.

`make gpu-check` runs these, and prints the kernels of a model with their times.
"""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import graphlens
from graphlens.model import Measured, Unavailable

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.usefixtures("compiles"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.LayerNorm(256), torch.nn.Linear(256, 64)
    )


def lowered(report):
    return [graph for graph in report.graphs if graph.stage != "dynamo"]


def test_a_training_step_has_triton_kernels_with_their_operators() -> None:
    device = model().cuda()
    compiled = torch.compile(device, backend="graphlens", options={"graphlens.show": "none"})
    compiled(torch.randn(32, 64, device="cuda")).sum().backward()
    report = graphlens.report()

    assert [graph.stage for graph in lowered(report)] == ["forward", "backward"]
    for graph in lowered(report):
        assert "Triton" in {kernel.language for kernel in graph.kernels}
        computed = {name for kernel in graph.kernels for name in kernel.nodes}
        explained = dict(graph.unassigned)
        for node in graph.operators:
            assert node.name in computed or node.name in explained, node.name


def test_a_comparison_has_times_of_kernels_by_device_events() -> None:
    with torch.no_grad():
        report = graphlens.compare(model().cuda(), budget=20.0)(torch.randn(512, 64, device="cuda"))

    assert report.accuracy.verdict in ("agrees", "rounding"), report.accuracy.reason
    (graph,) = lowered(report)
    assert not isinstance(graph.kernel_times, Unavailable), graph.kernel_times
    assert all(isinstance(kernel.seconds, Measured) for kernel in graph.kernels)


def test_cuda_graphs_are_seen() -> None:
    compiled = torch.compile(
        model().cuda(), backend=graphlens.backend(show="none"), mode="reduce-overhead"
    )
    with graphlens.record() as lens, torch.no_grad():
        for _ in range(3):
            compiled(torch.randn(32, 64, device="cuda"))

    (graph,) = lowered(lens.report())
    assert graph.cuda_graphs.asked
    assert graph.cuda_graphs.used, graph.cuda_graphs.skip_reasons


def test_a_preview_names_the_kernels_of_the_real_run() -> None:
    pytest.importorskip("triton")
    from graphlens.analysis.targets import TARGETS

    capability = torch.cuda.get_device_capability()
    target = next((one for one in TARGETS.values() if one.capability == capability), None)
    if target is None:
        pytest.skip(f"no target of capability {capability} is known")
    x = torch.randn(32, 64)
    with torch.no_grad():
        foreseen = graphlens.preview(model(), target=target.name, numerics=False)(x)
        torch._dynamo.reset()
        with graphlens.record() as lens:
            torch.compile(model().cuda(), backend=graphlens.backend(show="none"))(x.cuda())

    names = [
        [kernel.name for kernel in lowered(one)[0].kernels] for one in (foreseen, lens.report())
    ]
    assert names[0] == names[1]
