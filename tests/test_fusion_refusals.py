"""Why kernels were not fused and whether CUDA graphs are used, from what Inductor says."""

import json
import logging

import pytest

from graphlens.analysis.cuda_graph_use import cuda_graphs
from graphlens.analysis.fusion_refusals import LIBRARY
from graphlens.analysis.generated_programs import CUDA_GRAPHS, FUSION, generated_programs
from graphlens.analysis.kernels import kernels_of
from graphlens.model import (
    CudaGraphs,
    NotFused,
    Report,
    TraceRecord,
    Unavailable,
    from_json,
    to_json,
)
from graphlens.model.report import Environment
from graphlens.renderers.wording import cuda_graphs_text, graph_title
from test_kernels import CASES, graph_of, records, with_kernels

# As Inductor writes it: operations on both sides, the reason, the round of fusion.
SAID = {
    "refused": [
        [["op1"], ["op4"], "not at first", 1],
        [["op0", "op1"], ["op4", "op6"], "memory deps did not match", 2],
        [["op6"], ["op0", "op1"], "exceeds max fusion", 2],
        [["op6"], ["op9"], "of one kernel", 2],
        [["op9"], ["op13"], "no shared data", 2],
        [["op77"], ["op0"], "of a graph inside", 2],
    ],
    "buffers": {
        "op0": {"buf0": "sum_2"},
        "op1": {"buf1": "fma"},
        "op2": {"buf2": "mm"},
        "op4": {"buf4": ""},
        "op6": {"buf6": "mul_12"},
        "op9": {"buf9": "mul_18"},
        "op12": {"buf12": "mm_2"},
        "op13": {"buf13": "sum_9"},
    },
}


def found(data):
    told = TraceRecord(kind=FUSION, data=json.loads(json.dumps(data)))
    (program,) = generated_programs([*records("mlp_backward"), told])
    return kernels_of(graph_of("mlp_backward"), program, {}).kernels


def test_reasons_are_of_the_last_round_and_of_neighbours():
    kernels = found(SAID)
    short = [{each.kernel: each.reason for each in kernel.not_fused} for kernel in kernels]
    softmax, one, two, norm, last, total = [kernel.handle for kernel in kernels]
    library = LIBRARY.format("extern_kernels.mm")
    assert short[0] == {
        one: library, two: library, norm: "memory deps did not match; exceeds max fusion",
    }  # fmt: skip
    assert short[3] == {
        softmax: short[0][norm], one: library, two: library, last: library, total: "no shared data",
    }  # fmt: skip
    assert short[5] == {norm: "no shared data", last: library}
    # buf6 takes over the memory of buf2, which the first product wrote: they are neighbours.
    assert norm in short[1]


def test_buffers_know_the_nodes_that_they_hold():
    norm = found(SAID)[3]
    assert {each.name: each.node for each in norm.outputs} == {
        "buf4": "", "buf6": "mul_12", "buf7": "", "buf8": "", "buf9": "mul_18", "buf10": "",
        "buf11": "",
    }  # fmt: skip
    nodes = {each.name: each.node for each in norm.inputs}
    assert nodes["buf6"] == "mm"  # before the call
    assert nodes["primals_4"] == "primals_4"
    assert nodes["buf1"] == "fma"


@pytest.mark.parametrize("case", CASES)
def test_without_a_record_nothing_is_claimed(case):
    for kernel in with_kernels(case).kernels:
        assert isinstance(kernel.not_fused, Unavailable)
        assert {each.node for each in kernel.outputs} == {""}


@pytest.mark.parametrize(
    ("data", "expected", "words"),
    [
        ({"asked": False}, CudaGraphs(asked=False, used=False), ""),
        (
            {"asked": True, "wanted": True, "used": True, "partitions": 3, "devices": ["cuda"]},
            CudaGraphs(asked=True, used=True, partitions=3),
            "3 CUDA graphs, the program being split",
        ),
        (
            {"asked": True, "wanted": True, "used": False, "devices": ["cpu"],
             "reasons": ["skipping cudagraphs due to multiple devices: "]},
            CudaGraphs(asked=True, used=False,
                       skip_reasons=("multiple devices (all of it is on the CPU)",)),
            "no CUDA graph: multiple devices (all of it is on the CPU)",
        ),
        (
            {"asked": True, "wanted": True, "used": False, "devices": ["cuda"],
             "reasons": ["mutated inputs (1 instances)", "mutated inputs (1 instances)"]},
            CudaGraphs(asked=True, used=False, skip_reasons=("mutated inputs (1 instances)",)),
            "no CUDA graph: mutated inputs (1 instances)",
        ),
        (
            {"asked": True, "wanted": False, "used": False},
            CudaGraphs(asked=True, used=False,
                       skip_reasons=("Inductor had given it up for the forward graph",)),
            "no CUDA graph: Inductor had given it up for the forward graph",
        ),
    ],
)  # fmt: skip
def test_cuda_graphs_in_words(data, expected, words):
    told = TraceRecord(kind=CUDA_GRAPHS, data=data)
    (program,) = generated_programs([*records("mlp_forward"), told])
    assert program.cuda_graphs == cuda_graphs(data) == expected
    graph = with_kernels("mlp_forward", cuda_graphs=expected)
    assert cuda_graphs_text(graph) == words
    assert (words in graph_title(graph).facts) == bool(words)
    report = Report(environment=Environment(graphlens="1", torch="2", python="3"), graphs=(graph,))
    assert from_json(to_json(report)) == report


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_what_inductor_says_of_a_real_compilation():
    torch = pytest.importorskip("torch")
    import graphlens
    from graphlens._torch.fusion import _logger

    before = logging.Logger.manager.disable, _logger().level, list(_logger().handlers)

    def step(x):
        y = torch.softmax(x, -1)
        return y.sum(0), (y @ y.mT).relu()

    with graphlens.record() as lens, torch.no_grad():
        torch.compile(step, backend="graphlens", mode="reduce-overhead")(torch.randn(8, 8))
    assert (logging.Logger.manager.disable, _logger().level, list(_logger().handlers)) == before
    graph = lens.report().graphs[-1]
    (reason,) = graph.cuda_graphs.skip_reasons
    assert graph.cuda_graphs.asked
    assert not graph.cuda_graphs.used
    assert reason.endswith("(all of it is on the CPU)")
    first, product, last = graph.kernels
    assert [each.node for each in product.outputs] == ["mm"]
    assert "div" in {each.node for each in first.outputs}
    assert "mm" in {each.node for each in last.inputs}
    library = LIBRARY.format("extern_kernels.mm")
    assert NotFused(kernel=product.handle, reason=library) in first.not_fused


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_reasons_are_those_of_torchs_log():
    torch = pytest.importorskip("torch")
    import graphlens
    from graphlens._torch.fusion import _logger

    lines = []
    log = logging.Handler()
    log.emit = lambda record: lines.append(record.getMessage())
    _logger().addHandler(log)
    try:
        with graphlens.record() as lens:
            model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
            compiled = torch.compile(model, backend="graphlens", options={"graphlens.show": "none"})
            compiled(torch.randn(4, 8)).sum().backward()
    finally:
        _logger().removeHandler(log)
    said = {line.partition(": ")[2] for line in lines if line.startswith("cannot fuse")}
    kernels = [k for g in lens.report().graphs[1:] for k in g.kernels]
    told = {each.reason for k in kernels for each in k.not_fused if "library" not in each.reason}
    assert told
    assert {part for text in told for part in text.split("; ")} <= said
