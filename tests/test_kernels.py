"""Kernels of a graph, from programs that Inductor generated: kept as files, and made anew."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_files import check_golden
from graphlens.analysis.divergence_kernels import with_divergence_kernels
from graphlens.analysis.generated_programs import CODE, GRAPH, MAPPINGS, generated_programs
from graphlens.analysis.kernel_nodes import UNKNOWN
from graphlens.analysis.kernels import GraphKernels, kernels_of, nodes_of
from graphlens.analysis.operator_kinds import is_view
from graphlens.analysis.readable_graph import parse_readable
from graphlens.analysis.replaced_nodes import replaced_nodes
from graphlens.model import (
    Accuracy,
    Divergence,
    Graph,
    Kernel,
    Report,
    TraceRecord,
    Unavailable,
    from_json,
    to_json,
)
from graphlens.model.report import Environment
from graphlens.renderers.kernel_table import kernel_markdown, kernel_table
from graphlens.renderers.overlay import overlay
from graphlens.renderers.svg import SvgRenderer
from graphlens.renderers.table import TableRenderer

FIXTURES = Path(__file__).parent / "fixtures" / "kernels"
CASES = ("mlp_forward", "mlp_backward", "attention_inference")


def text(case: str, name: str) -> str:
    return (FIXTURES / case / name).read_text()


def records(case: str, code: str | None = None, mappings: str | None = None) -> list[TraceRecord]:
    payloads = {
        GRAPH: text(case, "lowered.txt"),
        CODE: text(case, "program.py.txt") if code is None else code,
        MAPPINGS: text(case, "mappings.json") if mappings is None else mappings,
    }
    return [TraceRecord(kind=kind, payload=payload) for kind, payload in payloads.items()]


def graph_of(case: str) -> Graph:
    nodes, subgraphs = parse_readable(text(case, "graph.txt"))
    stage = case.rpartition("_")[2]
    return Graph(id=f"0/0.{stage}", compile_id="0/0", stage=stage, nodes=nodes, subgraphs=subgraphs)


def read(case: str, code: str | None = None, mappings: str | None = None) -> GraphKernels:
    (program,) = generated_programs(records(case, code, mappings))
    return kernels_of(graph_of(case), program, {})


def kernels(case: str) -> tuple[Kernel, ...]:
    found = read(case).kernels
    assert not isinstance(found, Unavailable)
    return found


def with_kernels(case: str, **more: object) -> Graph:
    graph, found = graph_of(case), read(case)
    return Graph(
        id=graph.id, compile_id="0/0", stage=graph.stage, nodes=graph.nodes, kernels=found.kernels,
        unassigned=found.unassigned, output_code=text(case, "program.py.txt"), **more,
    )  # fmt: skip


def test_kernels_in_order_with_their_language():
    assert [(k.name, k.language, k.handle.rpartition(":")[2]) for k in kernels("mlp_forward")] == [
        ("extern_kernels.addmm", "extern", "1"),
        ("cpp_fused_gelu_native_layer_norm_0", "C++", "2"),
        ("extern_kernels.addmm", "extern", "3"),
        ("cpp_fused__softmax_1", "C++", "4"),
    ]
    assert {k.language for k in kernels("attention_inference")} == {"C++", "extern", "fallback"}


def test_a_matrix_product_is_counted_by_hand():
    # addmm: 4x16 times 16x32, and a bias of 32, all float32
    first = kernels("mlp_forward")[0]
    assert first.flops == 2 * 4 * 16 * 32
    assert first.read_bytes == (32 + 4 * 16 + 16 * 32) * 4
    assert first.written_bytes == 4 * 32 * 4
    assert first.nodes == ("addmm",)
    assert first.origins == ("linear",)
    assert first.fused == 1
    assert [(b.name, b.shape) for b in first.inputs] == [
        ("primals_2", (32,)), ("primals_3", (4, 16)), ("primals_1", (16, 32)),
    ]  # fmt: skip


def test_a_fused_reduction_is_counted_by_hand():
    norm = kernels("mlp_forward")[1]
    # Reads x, weight and bias. Mean, deviation and result were written by nobody before: they are
    # no reads, though their parameters are called in_out.
    assert norm.read_bytes == (4 * 32 + 32 + 32) * 4
    assert norm.written_bytes == (4 + 4 + 4 * 32) * 4
    # var_mean reads 4x32; add and rsqrt are of 4 rows; nine operators are of 4x32.
    assert norm.flops == 128 + 4 + 4 + 9 * 128
    assert norm.fused == 12
    assert norm.origins == ("layer_norm", "gelu")
    assert "kernel(float* in_out_ptr0," in norm.source


def test_backward_kernels_have_their_nodes():
    found = read("mlp_backward")
    assert isinstance(found.kernels, tuple)
    assert [nodes_of(k) for k in found.kernels if k.language == "extern"] == [
        ("mm",), ("mm_1",), ("mm_2",),
    ]  # fmt: skip
    assert all(isinstance(k.origins, Unavailable) for k in found.kernels)
    assert found.kernels[1].flops == 2 * 4 * 8 * 32


def test_a_fallback_computes_its_own_operator_alone():
    found = {k.name: k for k in kernels("attention_inference")}
    # Torch lists the dropout before it too, which another kernel computes.
    assert found["torch.ops.aten.cummax.default"].nodes == ("cummax",)
    attention = found["torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default"]
    # Three views of one buffer: 2x2 heads of 5x8; scores and the sum of values.
    assert attention.read_bytes == 3 * 2 * 2 * 5 * 8 * 4
    assert attention.flops == 2 * 4 * (5 * 5 * 8) * 2
    assert found["extern_kernels.bmm"].flops == 2 * 2 * 5 * 5 * 16


def test_what_is_not_known_says_why():
    found = {k.name: k for k in kernels("attention_inference")}
    embedding = found["cpp_fused_embedding_ones_0"]
    assert embedding.read_bytes == Unavailable("how much embedding reads depends on its indices")
    assert embedding.written_bytes == (2 * 5 * 16 + 80 * 3) * 4
    sort = found["torch.ops.aten.sort.stable"]
    assert isinstance(sort.written_bytes, Unavailable)  # of two results the program uses one
    assert isinstance(sort.flops, Unavailable)


@pytest.mark.parametrize("case", CASES)
def test_every_operator_has_a_kernel_or_a_reason(case):
    found, graph = read(case), graph_of(case)
    assert isinstance(found.kernels, tuple)
    assert isinstance(found.unassigned, tuple)
    computed = {name for kernel in found.kernels for name in nodes_of(kernel)}
    reasons = dict(found.unassigned)
    assert not computed & set(reasons)
    for node in graph.operators:
        assert (node.name in computed) != (node.name in reasons)
        assert reasons.get(node.name) != UNKNOWN
        assert (reasons.get(node.name) == "view") <= is_view(node)


def test_what_a_pass_put_in_place_is_in_the_graphs_terms():
    found = {k.name: k for k in kernels("attention_inference")}
    # Generated for inductor_random_default and permute_4, which took the places of rand and clone.
    assert "rand" in found["cpp_fused_native_dropout_1"].nodes
    assert "full" in found["cpp_fused_embedding_ones_0"].nodes
    reasons = dict(read("attention_inference").unassigned)
    assert reasons["clone"] == "eliminated by a pass of Inductor: permute_4 is its value"


MERGED = """class G(torch.nn.Module):
    def forward(self, a: "f32[4, 8][8, 1]cpu", b: "f32[8, 2][2, 1]cpu", c: "f32[4, 2][2, 1]cpu"):
        {}
        relu: "f32[4, 2][2, 1]cpu" = torch.ops.aten.relu.default({})
        return (relu,)
"""
TWO = """mm: "f32[4, 2][2, 1]cpu" = torch.ops.aten.mm.default(a, b)
        add: "f32[4, 2][2, 1]cpu" = torch.ops.aten.add.Tensor(mm, c)"""
ONE = 'addmm_default: "f32[4, 2][2, 1]cpu" = torch.ops.aten.addmm.default(c, a, b)'


def test_operators_that_a_pass_merged_are_of_the_merged_ones_kernel():
    before, _ = parse_readable(MERGED.format(TWO, "add"))
    after, _ = parse_readable(MERGED.format(ONE, "addmm_default"))
    found = replaced_nodes(before, {node.name: node for node in after}, {})
    assert found == {"add": [("addmm_default", "")], "mm": [("addmm_default", "")]}
    told = {"add": [("addmm_default", "addmm_pass")], "gone": [("nowhere", "")]}
    found = replaced_nodes(before, {node.name: node for node in after}, told)
    assert found["mm"] == [("addmm_default", "addmm_pass")]


def test_without_torchs_account_nodes_are_unavailable():
    found = read("mlp_backward", mappings='{"version": 2.0}')
    assert isinstance(found.unassigned, Unavailable)
    assert isinstance(found.kernels, tuple)
    for kernel in found.kernels:
        for value in (kernel.nodes, kernel.origins, kernel.flops, kernel.fused):
            assert isinstance(value, Unavailable)
            assert "provenance_tracking_level" in value.reason
    assert found.kernels[1].read_bytes == (4 * 8 + 8 * 32) * 4


def test_an_account_of_another_program_is_not_taken():
    other = text("mlp_backward", "mappings.json")
    assert isinstance(read("mlp_forward", mappings=other).unassigned, Unavailable)


TRITON = dedent('''
    triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', """
    import triton
    @triton.jit
    def triton_poi_fused_add_0(in_ptr0, in_out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
        pass
    """, device_str='cuda')

    def call(args):
        x, y = args
        assert_size_stride(x, (8, 4), (4, 1))
        with torch.cuda._DeviceGuard(0):
            buf0 = empty_strided_cuda((8, 1), (1, 8), torch.bfloat16)
            buf1 = buf0; del buf0  # reuse
            # [Provenance debug handles] triton_poi_fused_add_0:1
            triton_poi_fused_add_0.run(x, y, buf1, 32, stream=stream0)
        return (buf1, )
''')


def test_triton_programs_are_read_too():
    source = """class G(torch.nn.Module):
    def forward(self, x: "f32[8, 4][4, 1]cuda:0", y: "f32[8, 4][4, 1]cuda:0"):
        add: "f32[8, 4][4, 1]cuda:0" = torch.ops.aten.add.Tensor(x, y)
        return (add,)
"""
    nodes, _ = parse_readable(source)
    graph = Graph(id="0/0.inference", compile_id="0/0", stage="inference", nodes=nodes)
    mappings = json.dumps({"cppCodeToPost": {"triton_poi_fused_add_0:1": ["add"]}})
    (program,) = generated_programs(
        [TraceRecord(kind=CODE, payload=TRITON), TraceRecord(kind=MAPPINGS, payload=mappings)]
    )
    (kernel,) = kernels_of(graph, program, {}).kernels
    assert (kernel.language, kernel.nodes, kernel.flops) == ("Triton", ("add",), 32)
    assert [b.name for b in kernel.inputs] == ["x", "y"]
    assert [(b.name, b.shape, b.bytes) for b in kernel.outputs] == [
        ("y", (8, 4), 128), ("buf1", (8, 1), 16),
    ]  # fmt: skip
    assert kernel.read_bytes == 256


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.text(max_size=80))
def test_any_text_gives_no_exception(code, mappings):
    for program in (code, f"def call(args):\n    {code}"):
        read("mlp_forward", program, mappings)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_program_gives_no_exception(data):
    case = data.draw(st.sampled_from(CASES))
    lines = text(case, "program.py.txt").split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        cut = data.draw(st.integers(0, len(line)))
        lines[at] = data.draw(
            st.sampled_from([line[:cut], line[cut:], "", line + ")", line[:cut] + "0" + line[cut:]])
        )
    found = read(case, "\n".join(lines))
    if isinstance(found.kernels, tuple):
        for kernel in found.kernels:
            for value in (kernel.read_bytes, kernel.written_bytes, kernel.flops):
                assert isinstance(value, Unavailable) or value >= 0


def test_tables():
    graphs = [with_kernels(case) for case in CASES]
    check_golden("kernels_120.txt", "\n".join(kernel_table(g, 120) for g in graphs))
    check_golden("kernels_80.txt", "\n".join(kernel_table(g, 80, most=5) for g in graphs))
    check_golden("kernels.md", "\n".join(kernel_markdown(g) for g in graphs))
    check_golden("kernels_nodes.txt", TableRenderer(width=150).graph(graphs[0]))
    assert all(len(line) <= 80 for g in graphs for line in kernel_table(g, 80).split("\n"))


def test_picture_in_colours_of_kernels():
    graph = with_kernels("mlp_forward")
    svg = SvgRenderer(colour="kernel", theme="light").graph(graph)
    check_golden("svg_kernel.svg", svg)
    assert "4 kernels" in svg
    shown = overlay(graph, "kernel")
    assert shown is not None
    # One kernel, one colour; neighbours in the order of execution differ.
    of = {name: shown.levels[name] for kernel in graph.kernels for name in kernel.nodes}
    assert [{of[name] for name in kernel.nodes} for kernel in graph.kernels] == [{1}, {2}, {3}, {4}]
    assert shown.words["addmm"] == "kernel 1 extern_kernels.addmm"
    unknown = SvgRenderer(colour="kernel").graph(graph_of("mlp_forward"))
    assert "nothing is known" in unknown


def diverging(part: str, node: str) -> Report:
    first = Divergence(node=node, operator="torch.nn.functional.gelu", part=part)
    accuracy = Accuracy(verdict="diverges", first_divergence=first)
    dynamo = Graph(id="0/0.dynamo", compile_id="0/0", stage="dynamo", nodes=(), accuracy=accuracy)
    environment = Environment(graphlens="1", torch="2", python="3")
    graphs = (dynamo, with_kernels("mlp_forward"), with_kernels("mlp_backward"))
    return Report(environment=environment, graphs=graphs, accuracy=accuracy)


def test_a_divergence_names_its_kernels():
    found = with_divergence_kernels(diverging("forward", "gelu"))
    names = ("cpp_fused_gelu_native_layer_norm_0",)
    assert found.graphs[0].accuracy.first_divergence.kernels == names
    assert found.accuracy.first_divergence.kernels == names
    for part, node in (("forward", "other"), ("backward", "gelu")):
        report = diverging(part, node)
        assert with_divergence_kernels(report) == report


def test_json_keeps_kernels():
    environment = Environment(graphlens="1", torch="2", python="3")
    report = Report(environment=environment, graphs=(with_kernels("mlp_forward"),))
    assert from_json(to_json(report)) == report


def check_real(report: Report) -> None:
    """Each operator of each graph has a kernel; kernels are those the program's comments name."""
    lowered = [graph for graph in report.graphs if graph.stage != "dynamo"]
    assert lowered
    for graph in lowered:
        assert isinstance(graph.kernels, tuple), graph.kernels
        assert isinstance(graph.unassigned, tuple), graph.unassigned
        mark = "# [Provenance debug handles] "
        comments = [line.partition(mark)[2] for line in str(graph.output_code).split("\n")]
        # With several threads Inductor adds a scatter of its own, of which its comments say nothing.
        handles = [kernel.handle for kernel in graph.kernels if kernel.handle]
        assert handles == [comment for comment in comments if comment]
        computed = {name for kernel in graph.kernels for name in nodes_of(kernel)}
        reasons = dict(graph.unassigned)
        for node in graph.operators:
            assert (node.name in computed) != (node.name in reasons)
            assert reasons.get(node.name) != UNKNOWN, f"{graph.id} {node.name}"
        assert all(kernel.source for kernel in graph.kernels if kernel.language == "C++")


def recorded(model, x, train):
    torch = pytest.importorskip("torch")
    import graphlens

    torch._dynamo.reset()
    with graphlens.record() as lens, torch.set_grad_enabled(train):
        compiled = torch.compile(
            model.train(train), backend="graphlens", options={"graphlens.show": "none"}
        )
        result = compiled(x)
        if train:
            result.sum().backward()
    return lens.report()


def mlp():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4))


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_kernels_of_a_real_compilation_and_of_a_warm_cache():
    import torch

    x = torch.randn(3, 8)
    cold, warm = recorded(mlp(), x, True), recorded(mlp(), x, True)
    check_real(cold)
    check_real(warm)
    assert [graph.cached for graph in warm.graphs] == [True] * 3
    for before, after in zip(cold.graphs[1:], warm.graphs[1:], strict=True):
        assert [k.nodes for k in before.kernels] == [k.nodes for k in after.kernels]
        assert [k.read_bytes for k in before.kernels] == [k.read_bytes for k in after.kernels]
    forward, backward = cold.graphs[1:]
    assert forward.kernels[0].modules == ("0",)
    assert {"input_1", "input_2"} & set(forward.kernels[1].origins)
    assert all(isinstance(kernel.origins, tuple) for kernel in backward.kernels)
    assert cold.kernels == tuple(
        dict.fromkeys(k.name for g in cold.graphs[1:] for k in g.kernels if k.language == "C++")
    )


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_a_cache_that_inductor_filled_gives_kernels_without_nodes():
    import torch

    x = torch.randn(3, 8)
    with torch.no_grad():
        torch.compile(mlp().eval())(x)
    graph = recorded(mlp(), x, False).graphs[-1]
    assert graph.cached
    assert [k.language for k in graph.kernels] == ["extern", "C++", "extern"]
    assert all(isinstance(k.nodes, Unavailable) for k in graph.kernels)
    assert isinstance(graph.unassigned, Unavailable)
    assert graph.kernels[0].read_bytes == (16 + 3 * 8 + 8 * 16) * 4


@pytest.mark.slow
@pytest.mark.usefixtures("compiles", "fresh_cache")
def test_kernels_of_a_convolution_net_in_training():
    import torch

    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(128, 4),
    )  # fmt: skip
    report = recorded(model, torch.randn(2, 3, 8, 8), True)
    check_real(report)
    named = {k.name: k for graph in report.graphs[1:] for k in graph.kernels}
    once = 2 * 2 * (8 * 8) * 8 * (3 * 3 * 3)
    assert named["extern_kernels.convolution"].flops == once
    # The input needs no gradient: one convolution's work, for the weight.
    backward = named["torch.ops.aten.convolution_backward.default"]
    assert backward.flops == once
    assert backward.nodes == ("convolution_backward",)
