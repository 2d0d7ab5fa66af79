"""explain: modules, gradients, optimizers and tensors that a function reaches stay as they were."""

import functools
import sys
import types

import pytest

torch = pytest.importorskip("torch")

import graphlens
from programs import Stack

pytestmark = [
    pytest.mark.usefixtures("compiles"),
    # Dynamo looks at .grad of results and hides torch's warning, which "error" raises first.
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]

shared_model = Stack()
shared_tensor = torch.zeros(3)


def codes(report: object) -> list[str]:
    # A probe that fails says something of torch, not of the call.
    return [note.code for note in report.notes if note.code != "probe-failed"]


def message(report: object, code: str) -> str:
    (note,) = [note for note in report.notes if note.code == code]
    return note.message


def normed() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))


def state_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def assert_state(model: torch.nn.Module, before: dict[str, torch.Tensor]) -> None:
    now = model.state_dict()
    assert list(now) == list(before)
    assert all(torch.equal(before[name], now[name]) for name in before)


class Trainer:
    """A plain object that holds a model."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.parts = {"model": [model]}

    def step(self, x: torch.Tensor) -> torch.Tensor:
        return self.parts["model"][0](x)


def uses_global(x: torch.Tensor) -> torch.Tensor:
    return shared_model(x)


def uses_global_indirectly(x: torch.Tensor) -> torch.Tensor:
    def inner(y: torch.Tensor) -> torch.Tensor:
        return uses_global(y)

    return inner(x)


@pytest.mark.parametrize("function", [uses_global, uses_global_indirectly])
def test_a_global_model(function: object) -> None:
    before = state_of(shared_model)
    report = graphlens.explain(function)(torch.randn(4, 8))
    assert_state(shared_model, before)
    assert codes(report) == []
    assert report.graphs


def test_a_model_in_an_imported_module(monkeypatch: pytest.MonkeyPatch) -> None:
    place = types.ModuleType("place_of_models")
    place.net = normed()
    monkeypatch.setitem(sys.modules, "place_of_models", place)
    scope = {"place_of_models": place}
    exec("def run(x):\n    return place_of_models.net(x)\n", scope)
    before = state_of(place.net)
    graphlens.explain(scope["run"])(torch.randn(4, 3))
    assert_state(place.net, before)


def _given(model: torch.nn.Module) -> dict[str, tuple[object, tuple[object, ...]]]:
    def takes(m: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        return m(x)

    def takes_held(held: Trainer, x: torch.Tensor) -> torch.Tensor:
        return held.step(x)

    def closes_over(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    def by_default(x: torch.Tensor, m: torch.nn.Module = model) -> torch.Tensor:
        return m(x)

    return {
        "argument": (takes, (model,)),
        "held by an argument": (takes_held, (Trainer(model),)),
        "closure": (closes_over, ()),
        "default": (by_default, ()),
        "partial": (functools.partial(takes, model), ()),
        "method of a module": (model.forward, ()),
        "method of an object": (Trainer(model).step, ()),
    }


@pytest.mark.parametrize("where", list(_given(torch.nn.Identity())))
def test_a_model_wherever_it_is_found(where: str) -> None:
    model = normed()
    function, arguments = _given(model)[where]
    before = state_of(model)
    report = graphlens.explain(function)(*arguments, torch.randn(4, 3))
    assert_state(model, before)
    assert codes(report) == []


def test_a_training_step() -> None:
    model = normed()
    untouched = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD([*model.parameters(), *untouched.parameters()], 0.1, momentum=0.9)
    kept = torch.ones(3, 3)
    model[0].weight.grad = kept

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    before = state_of(model)
    report = graphlens.explain(step)(torch.randn(4, 3))
    assert model[0].weight.grad is kept
    assert torch.equal(kept, torch.ones(3, 3))
    assert model[0].bias.grad is None
    assert torch.equal(model[1].running_mean, before["1.running_mean"])
    assert codes(report) == ["parameters-changed", "optimizer-changed"]
    assert "model.0.weight" in message(report, "parameters-changed")
    assert "untouched" not in message(report, "parameters-changed")
    assert "optimizer" in message(report, "optimizer-changed")


def test_an_optimizer_that_is_only_held_is_not_named() -> None:
    model = normed()
    optimizer = torch.optim.Adam(model.parameters())

    def forward(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        return model(x)

    report = graphlens.explain(forward)(torch.randn(4, 3))
    assert codes(report) == []


def test_parameters_written_past_autograd_are_named() -> None:
    model = torch.nn.Linear(3, 3)

    def decay(x: torch.Tensor) -> torch.Tensor:
        y = model(x)
        torch._dynamo.graph_break()
        model.weight.data.mul_(0.5)
        return y

    report = graphlens.explain(decay)(torch.randn(4, 3))
    assert codes(report) == ["parameters-changed"]


def test_a_global_tensor() -> None:
    def counts(x: torch.Tensor) -> torch.Tensor:
        shared_tensor.add_(1)
        return x + shared_tensor

    report = graphlens.explain(counts)(torch.ones(3))
    assert shared_tensor.tolist() == [0.0, 0.0, 0.0]
    assert codes(report) == []


def test_a_large_tensor_is_named_and_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphlens.capture.state.LARGEST_COPY", 8)
    table = torch.zeros(3)

    def counts(x: torch.Tensor) -> torch.Tensor:
        table.add_(1)
        return x + table

    report = graphlens.explain(counts)(torch.ones(3))
    assert "table" in message(report, "parameters-changed")


def test_buffers_that_are_replaced_and_the_training_mode() -> None:
    class Averages(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(3))
            self.register_buffer("cache", None)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.mean = self.mean * 0.9 + x.mean(0)
            self.cache = x
            return x - self.mean

    model = Averages()
    mean = model.mean

    def run(x: torch.Tensor) -> torch.Tensor:
        model.eval()
        return model(x)

    report = graphlens.explain(run)(torch.randn(4, 3))
    assert model.mean is mean
    assert mean.tolist() == [0.0, 0.0, 0.0]
    assert model.cache is None
    assert model.training
    assert codes(report) == []


def test_attributes_that_are_set_are_named() -> None:
    class Counts(torch.nn.Module):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls = self.calls + 1
            return x * 2

    model = torch.nn.Sequential(Counts())
    report = graphlens.explain(model)(torch.ones(3))
    assert "0.calls" in message(report, "attributes-changed")


def test_lazy_modules_are_no_error() -> None:
    model = torch.nn.Sequential(torch.nn.LazyLinear(2), torch.nn.LazyBatchNorm1d())
    report = graphlens.explain(model)(torch.randn(4, 3))
    assert {"parameters-changed", "tensors-not-put-back"} <= set(codes(report))


def test_what_changed_is_told_when_the_function_raises() -> None:
    model = normed()

    def fails(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            model[0].weight.mul_(2)
        torch._dynamo.graph_break()
        raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        graphlens.explain(fails)(torch.randn(4, 3))
    assert codes(caught.value.graphlens_report) == ["parameters-changed"]
