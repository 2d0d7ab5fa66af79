"""Previews: a GPU's program on a machine that may have none."""

import json

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")

from click.testing import CliRunner

import graphlens
from graphlens._torch.pretend_gpu import _replaced, pretend_gpu
from graphlens.analysis.targets import TARGETS, target_json
from graphlens.cli.main import cli
from graphlens.errors import UsageError
from graphlens.model import CpuProgram, from_json, to_json
from small_models import SMALL_MODELS, small_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiles"),
    # Dynamo asks for it where a function goes on after a graph break.
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]


def block(x, weight):
    return torch.softmax(torch.nn.functional.gelu(x @ weight) * 2.0, -1)


def arguments():
    torch.manual_seed(0)
    return torch.randn(6, 33), torch.randn(33, 20, requires_grad=True)


@pytest.fixture(scope="module")
def training():
    return graphlens.preview(block, target="h100")(*arguments())


def lowered(report):
    return [graph for graph in report.graphs if graph.stage != "dynamo"]


def test_forward_and_backward_have_triton_kernels(training) -> None:
    assert [graph.stage for graph in lowered(training)] == ["forward", "backward"]
    assert training.target == TARGETS["h100"]
    for graph in lowered(training):
        triton = [kernel for kernel in graph.kernels if kernel.language == "Triton"]
        assert triton
        assert "async_compile.triton" in graph.output_code
        assert isinstance(graph.cpu_program, CpuProgram)
        assert {k.language for k in graph.cpu_program.kernels} <= {"C++", "extern", "fallback"}
        assert "cpp_fused" in graph.cpu_program.code
        for kernel in triton:
            assert kernel.nodes
            assert kernel.binaries


def test_every_operator_has_a_kernel(training) -> None:
    for graph in lowered(training):
        computed = {name for kernel in graph.kernels for name in kernel.nodes}
        explained = dict(graph.unassigned)
        for node in graph.operators:
            assert (node.name in computed) != (node.name in explained), node.name


def test_machine_code_is_of_the_target(training) -> None:
    for graph in lowered(training):
        for kernel in graph.kernels:
            for binary in kernel.binaries if kernel.language == "Triton" else ():
                assert ".target sm_90" in binary.ptx
                assert binary.cubin[:4] == b"\x7fELF"
                assert 8 <= binary.registers <= 255
                assert 0 < binary.occupancy <= 1
                assert binary.grid[0] >= 1


def test_the_program_agrees_with_eager(training) -> None:
    assert [graph.accuracy.verdict for graph in lowered(training)] == ["agrees", "agrees"]
    assert training.accuracy.verdict == "agrees"


def test_a_preview_is_saved_and_loaded(training) -> None:
    assert from_json(to_json(training)) == training


def test_the_terminal_says_what_was_found(training) -> None:
    text = str(training)

    assert "target: NVIDIA H100 SXM" in text
    assert "run by Triton's interpreter on the CPU" in text


def test_another_target_gets_other_machine_code() -> None:
    options = {"numerics": False, "all_configs": False, "backward": False}
    with torch.no_grad():
        report = graphlens.preview(block, target="a100", **options)(*arguments())

    (graph,) = lowered(report)
    (first, *_) = [kernel for kernel in graph.kernels if kernel.language == "Triton"]
    assert ".target sm_80" in first.binaries[0].ptx
    assert len(first.binaries) == 1


def test_a_target_of_the_users_own(tmp_path) -> None:
    path = tmp_path / "mine.json"
    given = json.loads(target_json(TARGETS["a100"])) | {"name": "mine", "multiprocessors": 7}
    path.write_text(json.dumps(given))

    with torch.no_grad():
        report = graphlens.preview(torch.relu, target=str(path), numerics=False)(torch.randn(9))

    assert report.target.name == "mine"
    assert "multi_processor_count=7" in lowered(report)[0].output_code


def test_random_numbers_come_from_the_same_seeds() -> None:
    def dropped(x):
        return torch.nn.functional.dropout(x, 0.5) + torch.randn_like(x)

    report = graphlens.preview(dropped, all_configs=False)(torch.randn(7, 33))

    (graph,) = lowered(report)
    assert graph.accuracy.verdict in ("agrees", "rounding"), graph.accuracy.reason
    assert any("same seeds and offsets" in remark for remark in graph.accuracy.remarks)


def test_functions_of_libdevice_are_those_of_torch() -> None:
    def many(x):
        positive = x.abs() + 0.1
        return sum(
            [
                torch.erf(x), torch.erfc(x), torch.lgamma(positive), torch.atan2(x, positive),
                torch.pow(positive, x), torch.tanh(x), torch.log1p(positive), torch.expm1(x),
                torch.sinh(x), torch.asinh(x), torch.hypot(x, positive), torch.special.i1(x),
                torch.round(x * 10), torch.fmod(x, 0.3), torch.copysign(positive, x),
                torch.erfinv(torch.tanh(x)), torch.exp2(x), torch.trunc(x), torch.log2(positive),
            ]
        )  # fmt: skip

    with torch.no_grad():
        report = graphlens.preview(many, all_configs=False)(torch.randn(300))

    assert lowered(report)[0].accuracy.verdict in ("agrees", "rounding"), str(report)


def test_sizes_that_vary() -> None:
    def scaled(x):
        return (x * 2.0).sum(-1) / x.shape[0]

    report = graphlens.preview(scaled, dynamic=True, all_configs=False)(torch.randn(5, 17))

    (graph,) = lowered(report)
    assert graph.accuracy.verdict in ("agrees", "rounding")


def test_what_torch_refuses_on_a_target_is_said() -> None:
    with torch.no_grad():
        report = graphlens.preview(torch.relu, target="t4", numerics=False)(
            torch.randn(8, dtype=torch.bfloat16)
        )

    assert "BF16 is not supported" in lowered(report)[0].kernels.reason
    assert "BF16 is not supported" in str(report)


def test_constants_of_a_program_are_given_to_it() -> None:
    def scaled(x):
        return x * torch.tensor([1.0, 2.0, 3.0])

    report = graphlens.preview(scaled, all_configs=False)(torch.randn(3, requires_grad=True))

    assert [graph.accuracy.verdict for graph in lowered(report)] == ["agrees", "agrees"]


def test_a_step_that_ends_with_zero_grad_is_run_as_it_is() -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()

    def step(x):
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    report = graphlens.preview(step, numerics=False, all_configs=False)(torch.randn(4, 3))

    assert {"forward", "backward"} <= {graph.stage for graph in lowered(report)}
    assert torch.equal(model.weight, before)


def test_operators_of_a_kernel_are_known_where_sizes_vary() -> None:
    options = {"dynamic": True, "numerics": False, "all_configs": False}
    with torch.no_grad():
        report = graphlens.preview(lambda x: x.sin() + 1, **options)(torch.randn(3, 5))

    (kernel,) = lowered(report)[0].kernels
    assert len(kernel.nodes) == 2


def test_attention_is_that_of_the_target() -> None:
    attention = torch.nn.functional.scaled_dot_product_attention
    options = {"all_configs": False, "target": "h100"}
    found = {}
    for dtype, size in ((torch.float32, 16), (torch.bfloat16, 16), (torch.float32, 13)):
        torch._dynamo.reset()
        given = [torch.randn(1, 2, 8, size, dtype=dtype) for _ in range(3)]
        report = graphlens.preview(attention, **options)(*given)
        assert lowered(report)[0].accuracy.verdict in ("agrees", "rounding")
        called = [k.name for k in lowered(report)[0].kernels if k.language == "fallback"]
        found[dtype, size] = called[0].split(".")[3], [note.code for note in report.notes]

    assert found == {
        (torch.float32, 16): ("_scaled_dot_product_efficient_attention", []),
        (torch.bfloat16, 16): ("_scaled_dot_product_flash_attention", []),
        (torch.float32, 13): ("_scaled_dot_product_efficient_attention", ["traced-on-cpu"]),
    }


def test_tensors_elsewhere_are_an_error_before_the_work() -> None:
    with pytest.raises(UsageError, match="a tensor is on meta"):
        graphlens.preview(torch.relu)(torch.empty(3, device="meta"))


def test_a_program_without_a_graph_says_so() -> None:
    report = graphlens.preview(lambda x: x)(torch.randn(3))

    assert "nothing-captured" in [note.code for note in report.notes]


def test_the_budget_is_of_each_graph() -> None:
    with torch.no_grad():
        report = graphlens.preview(torch.sin, budget=1e-6, all_configs=False)(torch.randn(5000))

    accuracy = lowered(report)[0].accuracy
    assert accuracy.verdict == "not_comparable"
    assert "did not come to the end in 1e-06 s" in accuracy.reason


def test_the_program_runs_with_a_break_in_it() -> None:
    def broken(x):
        y = torch.sin(x) * 2
        torch._dynamo.graph_break()
        return torch.cos(y).sum()

    report = graphlens.preview(broken, all_configs=False, numerics=False)(torch.randn(50))

    assert len(report.breaks) == 1
    assert len(lowered(report)) == 2


def _objects():
    return [
        (getattr(place, "__name__", repr(place)), name, getattr(place, name))
        for place, name, _ in _replaced(TARGETS["h100"])
    ]


def test_torch_is_as_before_even_after_an_error() -> None:
    from torch._inductor import config
    from torch._inductor.codecache import PyCodeCache

    def failing(x):
        y = torch.sin(x)
        raise KeyError(float(y.sum()))

    before = _objects(), PyCodeCache.load_by_key_path, config.get_config_copy()
    available = torch.cuda.is_available()
    with pytest.raises(KeyError) as caught:
        graphlens.preview(failing, numerics=False)(torch.randn(4))
    assert lowered(caught.value.graphlens_report)
    with pytest.raises(ZeroDivisionError), pretend_gpu(TARGETS["h100"]):
        torch.cuda.get_device_capability()[0] // 0
    after = _objects(), PyCodeCache.load_by_key_path, config.get_config_copy()

    assert torch.cuda.is_available() == available
    for (place, name, one), (_, _, other) in zip(before[0], after[0], strict=True):
        assert one is other or one == other, f"{place}.{name}"
    assert before[1] == after[1]
    assert before[2] == after[2]


def test_the_cpu_compiles_as_before() -> None:
    x = torch.randn(40)
    with torch.no_grad():
        graphlens.preview(torch.sigmoid, numerics=False)(x)
        torch._dynamo.reset()
        compiled = torch.compile(torch.sigmoid)(x)

    torch.testing.assert_close(compiled, torch.sigmoid(x))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "h10"}, "Unknown target 'h10'"),
        ({"target": "none.json"}, r"none\.json cannot be read"),
        ({"budgt": 3}, "Unknown option budgt. Valid, nearest first: budget"),
        ({"budget": 0}, "budget is 0; give seconds above 0"),
        ({"dynamic": "yes"}, "dynamic is 'yes'; give True, False or None"),
        ({"numerics": "no"}, "numerics is 'no'; give True or False"),
        ({"options": 3}, "options is 3; give a dictionary"),
    ],
)
def test_a_wrong_option_is_said_before_the_work(options, said) -> None:
    with pytest.raises(UsageError, match=said):
        graphlens.preview(block, **options)


PROGRAM = """
import torch

def make():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()), (torch.randn(3, 8),)
"""


def test_the_command(tmp_path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    arguments = ["preview", f"{path}:make", "--target", "a100", "--first-config", "--tables"]
    done = CliRunner().invoke(cli, [*arguments, "--programs", "-o", str(tmp_path / "r.html")])

    assert done.exit_code == 0, done.output
    assert "NVIDIA A100 SXM 80 GB" in done.output
    assert "registers" in done.output
    assert "on the CPU" in done.output
    assert (tmp_path / "r.html").stat().st_size > 10_000


def test_a_target_is_printed_to_start_from() -> None:
    done = CliRunner().invoke(cli, ["preview", "--print-target", "l4"])

    assert done.exit_code == 0
    assert json.loads(done.output)["title"] == "NVIDIA L4"


# A minute in the interpreter; tools/preview_models.py runs it.
NOT_RUN = [("resnet18", True)]


@pytest.mark.parametrize("name", SMALL_MODELS)
@pytest.mark.parametrize("train", [False, True], ids=["inference", "training"])
def test_five_architectures(name: str, train: bool) -> None:
    model, inputs = small_model(name, torch.float32)
    model.train(train)
    runs = (name, train) not in NOT_RUN
    with torch.set_grad_enabled(train):
        options = {"all_configs": False, "numerics": runs, "budget": 300.0}
        report = graphlens.preview(model, **options)(**inputs)

    assert lowered(report)
    for graph in lowered(report):
        if runs:
            assert graph.accuracy.verdict in ("agrees", "rounding"), graph.accuracy.reason
        assert isinstance(graph.cpu_program, CpuProgram)
        computed = {node for kernel in graph.kernels for node in kernel.nodes}
        explained = dict(graph.unassigned)
        for node in graph.operators:
            assert node.name in computed or node.name in explained, node.name
        for kernel in graph.kernels:
            assert kernel.language != "Triton" or isinstance(kernel.binaries, tuple), kernel.name
