"""``graphlens.compare`` end to end: verdicts, what stays of a call, and where a step's time goes."""

import copy
import linecache
import time
from array import array
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.checks.compare import compare_calls
from graphlens.checks.compare_options import CompareOptions
from graphlens.errors import UsageError
from graphlens.model import Accuracy, Report, StepParts, Unavailable

pytestmark = pytest.mark.usefixtures("compiles")


class Trained(torch.nn.Module):
    """With all that a step changes: statistics, gradients, an optimizer, random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=0.1)

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        seen.add_(1)
        y = self.norm(self.linear(x)) + torch.rand(4)
        return y.relu()


def step_of_training(model: Trained) -> Any:
    def step(x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        model.optimizer.zero_grad()
        loss = model(x, seen).square().mean()
        loss.backward()
        model.optimizer.step()
        return seen

    return step


def state_of(model: Trained, *given: torch.Tensor) -> list[Any]:
    """Every tensor that a step can change, by value, and the random state."""
    optimizer = [
        value
        for parameter in model.parameters()
        for value in model.optimizer.state.get(parameter, {}).values()
    ]
    grads = [parameter.grad for parameter in model.parameters()]
    tensors = [*given, *model.state_dict().values(), *grads, *optimizer, torch.get_rng_state()]
    return [None if one is None else one.clone() for one in tensors]


@pytest.mark.parametrize("trains", [False, True])
def test_what_stays_of_a_call_is_what_a_compiled_call_leaves(trains: bool) -> None:
    left = []
    for compare in (False, True):
        torch._dynamo.reset()
        torch.manual_seed(5)
        model, x, seen = Trained(), torch.randn(6, 4), torch.zeros(1)
        function = step_of_training(model) if trains else model
        if compare:
            graphlens.compare(function, inner="aot_eager", budget=0.3)(x, seen)
        else:
            torch.compile(function, backend="aot_eager")(x, seen)
        left.append(state_of(model, x, seen))
    plain, compared = left
    assert len(plain) == len(compared)
    for one, two in zip(plain, compared, strict=True):
        assert (one is None) == (two is None)
        assert one is None or torch.equal(one, two)


def scaled(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * 2


def wrong_backend(gm: torch.fx.GraphModule, inputs: Any) -> Any:
    """Gives the first output a little too large."""

    def run(*args: Any) -> Any:
        first, *rest = gm.forward(*args)
        return (first * 1.01, *rest)

    return run


def test_equal_values_agree_with_their_errors_against_float64() -> None:
    x = torch.linspace(-1, 1, 7)
    report = graphlens.compare(scaled, inner="eager", timing=False)(x)
    whole, graph = report.accuracy, report.graphs[0].accuracy
    assert isinstance(whole, Accuracy)
    assert isinstance(graph, Accuracy)
    assert (whole.verdict, graph.verdict, graph.reference) == ("agrees", "agrees", "float64")
    (output,) = [one for one in graph.tensors if one.role == "output"]
    expected = (scaled(x).double() - scaled(x.double())).abs().max().item()
    assert not isinstance(output.compiled, Unavailable)
    assert output.compiled.max_abs == pytest.approx(expected, rel=1e-12)
    assert output.compiled == output.eager


def test_wrong_values_are_found_and_said_to_be_the_backends() -> None:
    report = graphlens.compare(scaled, inner=wrong_backend, timing=False)(torch.ones(3))
    whole, graph = report.accuracy, report.graphs[0].accuracy
    assert isinstance(whole, Accuracy)
    assert isinstance(graph, Accuracy)
    assert (whole.verdict, whole.origin) == ("diverges", "wrong_backend")
    assert graph.verdict == "diverges"
    assert "wrong" in str(report)


def test_several_calls_share_what_they_are_given() -> None:
    """The second call sees what the first wrote into the tensor that both have."""
    shared = torch.zeros(2)

    def write(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 10

    report = compare_calls(
        write, [((shared,), {})] * 2, CompareOptions(inner="eager", timing=False)
    )
    assert isinstance(report.accuracy, Accuracy)
    assert (report.accuracy.verdict, report.accuracy.calls) == ("agrees", 2)
    assert shared.tolist() == [2, 2]


def test_an_error_of_the_program_reaches_the_caller_with_the_report(tmp_path) -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(5, 5)

    with pytest.raises(RuntimeError, match="mat1 and mat2") as caught:
        graphlens.compare(fails, inner="eager", out=tmp_path / "kept")(torch.ones(2, 2))
    assert isinstance(caught.value.graphlens_report, Report)
    assert (tmp_path / "kept" / "report.html").exists()


def test_mistakes_in_the_call() -> None:
    with pytest.raises(UsageError, match="compare takes a function or module, not int"):
        graphlens.compare(3)
    with pytest.raises(UsageError, match=r"Unknown option budgets\. Valid, nearest first: budget"):
        graphlens.compare(scaled, budgets=3)
    with pytest.raises(UsageError, match="budget is -1; give seconds above 0"):
        graphlens.compare(scaled, budget=-1)
    with pytest.raises(UsageError, match="inductr"):
        graphlens.compare(scaled, candidates="inductr")(torch.ones(1))


def test_a_report_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    graphlens.compare(scaled, inner="eager", out=out, timing=False)(torch.ones(1))
    assert graphlens.load(out).accuracy.verdict == "agrees"


def test_an_interruption_keeps_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("graphlens.checks.comparison.time_step", interrupt)
    x = torch.zeros(2)
    report = graphlens.compare(torch.nn.Linear(2, 2), inner="eager")(x)
    assert isinstance(report.accuracy, Accuracy)
    assert isinstance(report.step, Unavailable)
    assert [note.code for note in report.notes].count("interrupted") == 1


WAITS = array("d")  # a list would be put back after each run


@torch.compiler.disable
def millisecond() -> None:
    """What a sleep of 1 ms would be if it ended on time; notes how long it really was."""
    start = now = time.perf_counter()
    while now < start + 0.001:
        now = time.perf_counter()
    WAITS.append(now - start)


def glue(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    millisecond()
    return y.cos()


def eager_glue(x: torch.Tensor) -> torch.Tensor:
    for one in (x.sin(), x.cos()):
        millisecond()
        x = x + one
    return x


def step_of(function: Any, x: torch.Tensor) -> StepParts:
    report = graphlens.compare(function, inner="eager", accuracy=False, budget=6)(x)
    assert isinstance(report.step, StepParts), report.step
    return report.step


@pytest.mark.alone
@pytest.mark.parametrize(("function", "what"), [(glue, "between"), (eager_glue, "eager")])
def test_python_between_graphs_is_charged_to_the_break(function: Any, what: str) -> None:
    calls = 2 if function is eager_glue else 1
    for _ in range(3):  # a machine that does something else may be in the way once
        del WAITS[:]
        step = step_of(function, torch.ones(8))
        charged = max(step.parts, key=lambda part: part.seconds.median)
        middle = sorted(WAITS)[len(WAITS) // 4 : -(len(WAITS) // 4)]
        waited = calls * sum(middle) / len(middle)
        if charged.seconds.median == pytest.approx(waited, rel=0.1):
            break
    assert charged.seconds.median == pytest.approx(waited, rel=0.1)
    assert step.covered == pytest.approx(1, abs=0.05)
    assert charged.what == what
    assert charged.place is not None
    assert linecache.getline(charged.place.file, charged.place.line).strip() == "millisecond()"


def forty_breaks(tmp_path: Path) -> Any:
    lines = [f"    x = x.sin() + {i}\n    torch._dynamo.graph_break()\n" for i in range(40)]
    source = f"import torch\ndef broken(x):\n{''.join(lines)}    return x\n"
    path = tmp_path / "forty.py"
    path.write_text(source)
    space: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), space)
    return space["broken"]


@pytest.mark.alone
def test_the_parts_of_a_step_with_forty_breaks_add_up(tmp_path: Path) -> None:
    step = step_of(forty_breaks(tmp_path), torch.ones(8))
    assert step.covered == pytest.approx(1, abs=0.05)
    graphs = {part.graph for part in step.parts if part.what == "graph"}
    assert len(graphs) == 40
    lines = {part.place.line for part in step.parts if part.what == "between" and part.place}
    assert lines == {4 + 2 * i for i in range(40)}


def test_a_program_without_graphs_runs_eager() -> None:
    def given_up(x: torch.Tensor) -> torch.Tensor:
        for i in range(2):
            print(i, end="")
            x = x + 1
        return x

    step = step_of(given_up, torch.ones(2))
    assert step.parts[0].what == "eager"
    assert step.parts[0].place is not None


def test_graphs_of_the_backend_by_name_are_compared_when_the_report_is_asked_for() -> None:
    torch._dynamo.reset()
    model = copy.deepcopy(torch.nn.Linear(2, 2))
    options = {"graphlens.show": "none", "graphlens.inner": "aot_eager"}
    compiled = torch.compile(model, backend="graphlens_compare", options=options)
    compiled(torch.ones(1, 2)).sum().backward()
    graph = graphlens.report().graphs[0]
    assert isinstance(graph.accuracy, Accuracy)
    assert graph.accuracy.verdict == "agrees"
    assert {one.role for one in graph.accuracy.tensors} == {"output", "gradient"}
