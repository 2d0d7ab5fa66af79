"""What a preview shows, in every format, of hand-built data."""

import msgspec
import pytest

from golden_files import check_golden
from graphlens.analysis.program_pairs import program_pairs
from graphlens.analysis.random_draws import drawn_by_four
from graphlens.analysis.targets import TARGETS
from graphlens.model import Unavailable, from_json, to_json
from graphlens.renderers.gpu_table import gpu_markdown, gpu_table
from graphlens.renderers.html import HtmlRenderer
from graphlens.renderers.kernel_payload import kernel_payload
from graphlens.renderers.markdown import MarkdownRenderer
from graphlens.renderers.program_pairs_text import program_pairs_text
from graphlens.renderers.summary import SummaryRenderer
from graphlens.renderers.textfile import TextRenderer
from preview_corpus import preview_report, previewed_graph
from report_corpus import lowered_graph

H100 = TARGETS["h100"]


def test_kernels_stand_beside_those_that_compute_the_same() -> None:
    pairs = program_pairs(previewed_graph())

    found = [(p.gpu and p.gpu.name, [one.name for one in p.cpu], p.operators) for p in pairs]
    assert found == [
        ("triton_poi_fused_sin_0", ["cpp_fused_sin_0"], ("sin",)),
        ("extern_kernels.mm", ["extern_kernels.mm"], ("mm",)),
        ("triton_poi_fused_embedding_1", [], ()),
        (None, ["cpp_fused_only_2"], ("cos",)),
    ]


@pytest.mark.parametrize("width", [60, 80, 130])
def test_the_table_and_the_programs_fit_their_width(width: int) -> None:
    graph = previewed_graph()
    text = gpu_table(graph, H100, width) + "\n" + program_pairs_text(graph, H100, width)

    assert all(len(line) <= width for line in text.splitlines())
    check_golden(f"preview_{width}.txt", text)


def test_markdown() -> None:
    check_golden("preview.md", MarkdownRenderer().report(preview_report()))
    assert gpu_markdown(previewed_graph(), most=1).count("\n| ") == 2


def test_the_terminal() -> None:
    check_golden("preview_summary.txt", SummaryRenderer(width=100).report(preview_report()))


def test_text_files_have_the_kernels() -> None:
    text = TextRenderer().graph(previewed_graph())

    assert "20 to 96" in text
    assert "Triton did not compile it" in text


def test_the_page_has_machine_code_and_the_other_program() -> None:
    first, second, third = kernel_payload(previewed_graph())["list"]

    assert first["machine"] == [
        "at least 9.78 ns, bound by memory",
        "XBLOCK 256; 4 warps: 20 registers a thread, 2.00 KiB shared, occupancy 100.0 %, "
        "grid 16 x 1 x 1",
        "XBLOCK 1024; 4 warps: 96 registers a thread, 8 B spilled, 2.00 KiB shared, occupancy "
        "31.2 % (limited by registers), grid 4 x 1 x 1",
    ]
    assert [title for title, _ in first["other"]] == [
        "On the CPU: cpp_fused_sin_0 (C++)", "PTX of the first configuration",
    ]  # fmt: skip
    assert second["machine"] == ["at least 14.7 ns, bound by memory"]
    assert third["other"] == []
    assert "3.35 TB/s" in HtmlRenderer().report(preview_report())


def test_other_reports_have_nothing_of_it() -> None:
    graph = lowered_graph()

    assert gpu_table(graph, None, 80) == gpu_markdown(graph) == ""
    assert program_pairs_text(graph, None, 80) == ""
    assert program_pairs(graph) == []
    assert all(entry["machine"] == [] == entry["other"] for entry in kernel_payload(graph)["list"])


def test_what_is_missing_is_said() -> None:
    graph = preview_report().graphs[1]

    assert "no compiler" in program_pairs_text(graph, H100, 80)
    assert gpu_table(graph, H100, 80) == ""
    graph = msgspec.structs.replace(previewed_graph(), cpu_program=Unavailable("because"))
    assert program_pairs(graph) == []


def test_a_preview_is_saved_and_loaded() -> None:
    assert from_json(to_json(preview_report())) == preview_report()


def test_random_tensors_that_are_drawn_by_four() -> None:
    def kernel(name: str, random: str, draws: str) -> str:
        return (
            "# Graph fragment:\n"
            f'#   %{random} : Tensor "f32[7]"[num_users=1] = '
            "call_function[target=torch.ops.prims.inductor_random.default](args = ())\n"
            f"{name} = async_compile.triton('{name}', '''\n    tmp1 = {draws}(tmp0, x0)\n''')\n\n"
        )

    code = kernel("one", "a", "triton_helpers.rand4x") + kernel("two", "b", "tl.rand")
    code += kernel("three", "c", "triton_helpers.randn4x")

    assert drawn_by_four(code) == {"a", "c"}
