"""explain: reasons without code generation, and nothing of the user's changed."""

import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

import graphlens
from graphlens._torch.isolation import compiled_entries
from graphlens.errors import OutputError, UsageError
from programs import BRANCH_LINE, Stack, branching, printing_loop, scaled

pytestmark = pytest.mark.usefixtures("compiles")


def test_graphs_and_breaks() -> None:
    report = graphlens.explain(branching)(torch.ones(3), -torch.ones(3))
    assert [len(g.operators) for g in report.graphs] == [5, 2]
    (found,) = report.breaks
    assert found.line == BRANCH_LINE
    assert {g.inner_backend for g in report.graphs} == {"eager"}


def test_lowered_graphs_on_request() -> None:
    report = graphlens.explain(scaled, inner="aot_eager")(torch.ones(3), 2)
    assert [g.stage for g in report.graphs] == ["dynamo", "inference"]


def test_random_states_are_put_back() -> None:
    def noisy(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x) + torch.rand(3)

    torch.manual_seed(3)
    random.seed(3)
    numpy.random.seed(3)
    before = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist()
    graphlens.explain(noisy)(torch.ones(3))
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()
    assert before[2] == numpy.random.get_state()[1].tolist()


def test_inputs_buffers_and_parameters_stay() -> None:
    def add_in_place(x: torch.Tensor) -> torch.Tensor:
        return x.add_(1)

    x = torch.zeros(3)
    graphlens.explain(add_in_place)(x)
    assert x.tolist() == [0.0, 0.0, 0.0]

    model = Stack()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    graphlens.explain(model)(torch.randn(4, 8))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_changed_parameter_is_said() -> None:
    class Decays(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                self.weight.mul_(0.5)
            return x * self.weight

    report = graphlens.explain(Decays())(torch.ones(2))
    (note,) = [n for n in report.notes if n.code == "parameters-changed"]
    assert "weight" in note.message


def test_what_the_user_compiled_stays_compiled() -> None:
    calls = []

    def backend(gm: torch.fx.GraphModule, inputs: object) -> object:
        calls.append(gm)
        return gm.forward

    compiled = torch.compile(scaled, backend=backend)
    compiled(torch.ones(3), 2)
    before = compiled_entries(scaled.__code__)
    report = graphlens.explain(compiled)(torch.ones(5), 2)
    assert len(report.graphs) == 1
    assert compiled_entries(scaled.__code__) == before == 1
    compiled(torch.ones(3), 2)
    assert len(calls) == 1


def test_explaining_often_does_not_use_up_the_users_recompile_limit() -> None:
    compiled = torch.compile(scaled, backend="eager", dynamic=False)
    compiled(torch.ones(3), 2)
    for size in range(4, 16):
        graphlens.explain(scaled, dynamic=False)(torch.ones(size), 2)
    with graphlens.record() as lens:
        compiled(torch.ones(4), 2)
    assert [f.outcome for f in lens.report().frames] == ["compiled"]


def test_sizes_seen_by_explain_do_not_make_the_users_graphs_dynamic() -> None:
    for size in (3, 4, 5):
        graphlens.explain(scaled)(torch.ones(size), 2)
    with graphlens.record() as lens:
        torch.compile(scaled, backend="eager")(torch.ones(7), 2)
    (graph,) = lens.report().graphs
    assert graph.symbols == ()


def test_a_function_given_up_is_given_up_anew() -> None:
    first = graphlens.explain(printing_loop)(torch.ones(2))
    again = graphlens.explain(printing_loop)(torch.ones(2))
    assert [f.outcome for f in first.frames] == [f.outcome for f in again.frames] == ["skipped"]
    with graphlens.record() as lens:
        torch.compile(printing_loop, backend="eager")(torch.ones(2))
    assert [f.outcome for f in lens.report().frames] == ["skipped"]


def fails(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    torch._dynamo.graph_break()
    raise KeyError("mine")


def test_the_report_is_written_when_the_call_ends(tmp_path: Path) -> None:
    explained = graphlens.explain(scaled, out=tmp_path / "o")
    assert list((tmp_path / "o").iterdir()) == []
    report = explained(torch.ones(3), 2)
    assert graphlens.load(tmp_path / "o") == report

    with pytest.raises(KeyError):
        graphlens.explain(fails, out=str(tmp_path / "failed"))(torch.ones(2))
    assert graphlens.load(tmp_path / "failed").breaks


def test_the_folder_is_checked_first(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        graphlens.explain(scaled, out=tmp_path / "file" / "o")


def test_an_error_of_the_function_reaches_the_user_with_the_report_so_far() -> None:
    with pytest.raises(KeyError, match="mine") as caught:
        graphlens.explain(fails)(torch.ones(2))
    assert caught.value.graphlens_report.breaks


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: graphlens.explain(3), "takes a function or module, not int"),
        (
            lambda: graphlens.explain(scaled, shape=1),
            "Unknown option shape. Valid, nearest first: inner, out, try_advice, dynamic, fullgraph",
        ),
        (lambda: graphlens.explain(scaled, show="table"), "Unknown option show. Valid"),
        (lambda: graphlens.explain(scaled, outer="o"), "nearest first: out, inner,"),
        (lambda: graphlens.explain(scaled, inner=3), "graphlens.inner is 3"),
    ],
)
def test_wrong_calls(make: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
