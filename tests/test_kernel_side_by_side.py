"""One kernel: the user's lines, the nodes each led to, and the generated source."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from golden_files import check_golden
from graphlens.analysis.generated_programs import FUSION, generated_programs
from graphlens.analysis.kernel_lookup import kernel_calls
from graphlens.analysis.kernel_source import kernel_comments, pointers, told_by_inductor
from graphlens.analysis.kernels import kernels_of, nodes_of
from graphlens.analysis.side_by_side import _letters, side_by_side
from graphlens.errors import UsageError
from graphlens.model import CudaGraphs, Graph, Report, TraceRecord, Unavailable
from graphlens.model.report import Environment
from graphlens.renderers.html import HtmlRenderer
from graphlens.renderers.kernel_payload import kernel_payload
from graphlens.renderers.kernel_side_by_side import kernel_text
from test_fusion_refusals import SAID
from test_kernels import FIXTURES, graph_of, records, with_kernels

TRITON = "norm_triton_inference"
# What Inductor notes: buffers of one operation each, and the nodes that they hold.
HELD = {
    "refused": [],
    "buffers": {f"op{n}": {f"buf{n}": node}
                for n, node in enumerate(["getitem_1", "", "", "add_2", "sum_1", "mm"])},
}  # fmt: skip


SOFTMAX = "softmax_inference"
SOFTMAX_SAID = json.loads((FIXTURES / SOFTMAX / "fusion.json").read_text())


def with_fusion(case: str, said: dict, **more: object) -> Graph:
    told = TraceRecord(kind=FUSION, data=json.loads(json.dumps(said)))
    (program,) = generated_programs([*records(case), told])
    graph = graph_of(case)
    found = kernels_of(graph, program, {})
    return Graph(
        id=graph.id, compile_id="0/0", stage=graph.stage, nodes=graph.nodes, kernels=found.kernels,
        unassigned=found.unassigned, output_code=program.code, **more,
    )  # fmt: skip


def report(*graphs: Graph) -> Report:
    return Report(environment=Environment(graphlens="1", torch="2", python="3"), graphs=graphs)


REPORT = report(
    with_kernels("mlp_forward"), with_fusion("mlp_backward", SAID), with_fusion(TRITON, HELD),
    with_fusion(SOFTMAX, SOFTMAX_SAID),
)  # fmt: skip


def test_kernels_are_found_by_name_and_by_call():
    both = kernel_calls(REPORT, "extern_kernels.addmm")
    assert [(call.graph.stage, call.number) for call in both] == [("forward", 0), ("forward", 2)]
    (one,) = kernel_calls(REPORT, "extern_kernels.addmm:3")
    assert one == both[1]
    # Each graph counts anew: one handle, two calls.
    twice = kernel_calls(report(REPORT.graphs[0], REPORT.graphs[0]), "cpp_fused__softmax_1:4")
    assert len(twice) == 2


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("cpp_fused_softmax_1", "Nearest first: cpp_fused__softmax_1,"),
        ("extern_kernels.addmm:2", "Nearest first: extern_kernels.addmm:3,"),
        ("triton_per_fused_add_native_layer_norm", "Nearest first: triton_per_fused_add_native_"),
    ],
)
def test_an_unknown_kernel_has_the_nearest_names(name, near):
    with pytest.raises(UsageError, match=near):
        kernel_calls(REPORT, name)
    with pytest.raises(UsageError, match="no program was generated"):
        kernel_calls(report(graph_of("mlp_forward")), name)


def test_lines_and_nodes_are_those_of_the_kernel():
    (call,) = kernel_calls(REPORT, "triton_per_fused_add_native_layer_norm_relu_sum_0")
    shown = side_by_side(call)
    assert [(line.mark, line.place.line, [n.name for n in line.nodes]) for line in shown.lines] == [
        ("A", 11, ["var_mean", "add", "rsqrt", "sub", "mul", "mul_1", "add_1"]),
        ("B", 12, ["relu", "add_2"]),
        ("C", 13, ["sum_1"]),
    ]
    # The comment that Inductor wrote above the kernel names the same nodes.
    comments = kernel_comments(str(call.graph.output_code), call.kernel.name)
    told = {name for _, names in told_by_inductor(comments) for name in names}
    assert told == set(nodes_of(call.kernel))
    assert [line.text for line in shown.source[: len(comments)]] == comments
    assert not any("kernel path" in line for line in comments)


def marks(shown):
    """Of each line that loads or stores: its text, what it loads and what it stores."""
    return [
        (line.text.strip(), [each.name for each in line.loads], [each.name for each in line.stores])
        for line in shown.source
        if line.loads or line.stores
    ]


def test_loads_and_stores_of_triton():
    (call,) = kernel_calls(REPORT, "triton_per_fused_add_native_layer_norm_relu_sum_0")
    found = marks(side_by_side(call))
    assert [(loads, stores) for _, loads, stores in found] == [
        (["arg0_1"], []), (["arg1_1"], []), (["arg2_1"], []), ([], ["buf3"]), ([], ["buf4"]),
    ]  # fmt: skip
    assert all(("tl.store" in line) == bool(stores) for line, _, stores in found)
    names = {name: (p.read and p.read.name, p.written and p.written.name)
             for name, p in pointers(call.kernel).items()}  # fmt: skip
    assert names == {
        "in_ptr0": ("arg0_1", None), "in_ptr1": ("arg1_1", None), "in_ptr2": ("arg2_1", None),
        "out_ptr2": (None, "buf3"), "out_ptr3": (None, "buf4"),
    }  # fmt: skip


def test_loads_and_stores_of_cpp():
    (call,) = kernel_calls(REPORT, "cpp_fused__softmax_add_native_layer_norm_sum_0")
    found = marks(side_by_side(call))
    for line, loads, stores in found:
        assert bool(stores) == (".store(" in line or line.startswith(("in_out_ptr", "out_ptr")))
        assert not (loads and stores)
    written = {each.name for each in call.kernel.outputs}
    assert {name for _, _, stores in found for name in stores} == written
    # In the memory of the product, the exponentials: what is loaded first is the product.
    nodes = [
        each.node for line in side_by_side(call).source for each in (*line.loads, *line.stores)
    ]
    assert nodes[0] == "mm"
    assert "mm" not in nodes[nodes.index("exp") :]
    assert {each.node for each in call.kernel.outputs} == {
        "getitem_1", "", "amax", "exp", "sum_1", "add_2", "sum_2",
    }  # fmt: skip


def test_loops_of_one_kernel_are_not_neighbours():
    # Inductor did not fuse the last sum with the rest, and put both into one C++ kernel.
    assert any(reason == "no shared data" for *_, reason, _ in SOFTMAX_SAID["refused"])
    (call,) = kernel_calls(REPORT, "cpp_fused__softmax_add_native_layer_norm_sum_0")
    assert [each.kernel for each in call.kernel.not_fused] == ["extern_kernels.mm:1"]


def test_letters_go_on_after_z():
    assert [_letters(n) for n in (0, 25, 26, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_text():
    names = ("triton_per_fused_add_native_layer_norm_relu_sum_0", "extern_kernels.addmm",
             "cpp_fused_sum_2:6", "cpp_fused__softmax_add_native_layer_norm_sum_0")  # fmt: skip
    shown = [kernel_text(kernel_calls(REPORT, name), 100, "/home/user/project") for name in names]
    check_golden("kernel_side_by_side.txt", "\n".join(shown))
    narrow = kernel_text(kernel_calls(REPORT, names[0]), 60, "/home/user/project")
    assert "  C norm.py:13: return z.sum(-1), z @ z.mT\n" in narrow


def test_what_is_not_known_says_why():
    graph = with_kernels("mlp_forward", cuda_graphs=CudaGraphs(
        asked=True, used=False, skip_reasons=("multiple devices",)))  # fmt: skip
    said = " ".join(kernel_text(kernel_calls(report(graph), "cpp_fused__softmax_1"), 100).split())
    assert "why it was not fused with its neighbours is not known (Inductor gives reasons" in said
    assert "no CUDA graph: multiple devices" in said
    (program,) = generated_programs([*records("mlp_forward", mappings="{}")])
    found = kernels_of(graph, program, {}).kernels
    graph = Graph(id="0/0.forward", compile_id="0/0", stage="forward", nodes=(), kernels=found)
    said = " ".join(kernel_text(kernel_calls(report(graph), "cpp_fused__softmax_1"), 100).split())
    assert "lines and nodes not known: torch did not say" in said
    assert isinstance(found[0].nodes, Unavailable)


def test_the_pages_data():
    graph = REPORT.graphs[2]
    first, second = kernel_payload(graph, "/home/user/project")["list"]
    assert first["lines"][1][0] == "B norm.py:12: z = torch.relu(y) + 1"
    place = {node.name: number for number, node in enumerate(graph.nodes)}
    assert first["lines"][1][1] == [["", [place["relu"], place["add_2"]]]]
    source = str(graph.kernels[0].source).strip("\n").split("\n")
    assert [text for _, text in first["source"]][-len(source) :] == source
    assert ["→ add_2 B", "    tl.store(out_ptr2 + (r0_1 + 128*x0), tmp30, xmask)"] in first[
        "source"
    ]
    assert second["remark"].startswith("A call into a library")
    assert "</script><" not in HtmlRenderer(root="/").report(report(graph))


def test_the_same_source_is_sent_once():
    graph = with_kernels("mlp_forward")
    kernels = (*graph.kernels, graph.kernels[1])
    twice = Graph(id="g", compile_id="0/0", stage="forward", nodes=graph.nodes, kernels=kernels)
    entries = kernel_payload(twice)["list"]
    assert entries[1]["source"]
    assert (entries[4]["source"], entries[4]["same"]) == ([], 1)
    said = kernel_text(kernel_calls(report(twice), graph.kernels[1].name), 100)
    assert "is called 2 times" in said
    assert "source: the same as of cpp_fused_gelu_native_layer_norm_0:2" in said


PROGRAM = """
import torch

def step(x):
    y = torch.softmax(x, -1)
    return y.sum(0)

def make():
    return step, (torch.ones(4, 8),)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("compiles")
def test_the_command(tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*arguments: str):
        command = [sys.executable, "-m", "graphlens", "explain", "program.py:make", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    wrong = run("--kernel", "cpp_fused_softmax", "-o", "r.json")
    assert wrong.returncode == 2
    name = wrong.stderr.rpartition("Nearest first: ")[2].strip(" .\n")
    assert name.startswith("cpp_fused__softmax")
    assert "Traceback" not in wrong.stderr
    done = run("--kernel", name, "-o", "r.json")
    assert done.returncode == 0, done.stderr
    for expected in ("A program.py:5: y = torch.softmax(x, -1)", "B program.py:6: return y.sum(0)",
                     "sum_2 B │ ", "wrote r.json"):  # fmt: skip
        assert expected in done.stdout
    import graphlens

    assert graphlens.load(tmp_path / "r.json").kernel(f"{name}:1").startswith(f"{name}:1 · C++")
