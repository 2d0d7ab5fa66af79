"""explain: operators that ran outside every captured graph, by the user's line."""

import contextlib
from pathlib import Path
from queue import SimpleQueue

import pytest

torch = pytest.importorskip("torch")

import graphlens
import programs
from graphlens._torch import dispatch
from graphlens.capture import eager_operators
from graphlens.model import EagerOperators, Report, Unavailable

pytestmark = pytest.mark.usefixtures("compiles")

THIS = str(Path(__file__))


def eager(report: Report) -> tuple[EagerOperators, ...]:
    assert not isinstance(report.eager, Unavailable), report.eager
    return report.eager


def lines(report: Report) -> dict[str, int]:
    """Counts by the text of the user's line."""
    return {found.place.code: found.count for found in eager(report)}


class Wrapper(torch.nn.Module):
    """Torch gives forward up, and does not enter the Sequential from eager code."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            self.first = x.sum().item()
            return self.body(x)
        finally:
            self.last = x.shape[0]


def test_a_container_of_torchs_is_named() -> None:
    with torch.no_grad():
        report = graphlens.explain(Wrapper())(torch.ones(2, 8))
    body, first = eager(report)
    assert body.place.file == THIS
    assert (body.place.function, body.place.code) == ("forward", "return self.body(x)")
    assert body.inside == "torch.nn.modules.container.Sequential.forward"
    assert body.operators == ("aten.t.default", "aten.addmm.default", "aten.relu.default")
    assert body.count == 3
    assert first.place.code == "self.first = x.sum().item()"
    assert first.operators == ("aten.sum.default", "aten._local_scalar_dense.default")
    assert (first.inside, first.count) == ("", 2)


def add_half(x: torch.Tensor, half: float) -> torch.Tensor:
    return x * 2 + half


@pytest.mark.parametrize("inner", ["eager", "aot_eager"])
def test_nothing_where_all_was_captured(inner: str) -> None:
    model = programs.Stack()
    assert eager(graphlens.explain(model, inner=inner)(torch.ones(4, 8))) == ()
    # A number that changes becomes a tensor on the way into the graph, which is Dynamo's doing.
    calls = [((torch.ones(2), half), {}) for half in (0.5, 0.6, 0.7)]
    assert eager(explain_all(add_half, calls, inner)) == ()


def explain_all(fn: object, calls: object, inner: str = "eager") -> Report:
    from graphlens.capture.explain import explain_calls
    from graphlens.capture.options import lens_options

    return explain_calls(fn, calls, lens_options({"show": "none", "inner": inner}), {})


def test_the_line_of_a_break_and_calls_add_up() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return y - 1

    report = explain_all(broken, [((torch.ones(2),), {})] * 3)
    (found,) = eager(report)
    assert found.place.code == "if y.sum() > 0:"
    assert found.place.function == "broken"
    # The sum is in the graph; what decides the branch is not.
    assert found.operators == ("aten.is_nonzero.default",) or found.operators == (
        "aten._local_scalar_dense.default",
    )
    assert found.count == 3


def test_a_line_after_a_break_has_the_functions_name() -> None:
    off = torch.compiler.disable(lambda x: x.sin())

    def resumed(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        y = off(x)
        return y + 1

    (found,) = eager(graphlens.explain(resumed)(torch.ones(2)))
    assert (found.place.code, found.count) == ("off = torch.compiler.disable(lambda x: x.sin())", 1)
    assert found.operators == ("aten.sin.default",)


def trained(x: torch.Tensor, layer: torch.nn.Module) -> torch.Tensor:
    layer(x).square().sum().backward()
    return layer.weight.grad


def eager_then_trained(x: torch.Tensor) -> torch.Tensor:
    try:
        torch._dynamo.graph_break()
        y = torch.sigmoid(x)
    finally:
        x.sum()
    y.sum().backward()
    return x.grad


@pytest.mark.parametrize("inner", ["eager", "aot_eager"])
def test_the_backward_of_a_captured_graph_is_not_eager(inner: str) -> None:
    layer = torch.nn.Linear(3, 3)
    report = graphlens.explain(trained, inner=inner)(torch.ones(2, 3), layer)
    assert report.graphs
    assert set(operators(report)) <= {"aten.ones_like.default"}


def operators(report: Report) -> list[str]:
    return [name for found in eager(report) for name in found.operators]


def test_the_backward_of_eager_operators_is() -> None:
    report = graphlens.explain(eager_then_trained)(torch.ones(2, requires_grad=True))
    (backward,) = [f for f in eager(report) if "aten.sigmoid_backward.default" in f.operators]
    assert backward.place.code == "y.sum().backward()"
    assert backward.inside == "torch._tensor.Tensor.backward"


def test_only_the_detach_that_the_program_calls() -> None:
    def gives_up(x: torch.Tensor, detaches: bool) -> torch.Tensor:
        try:
            torch._dynamo.graph_break()
            return x.exp().detach() if detaches else saved(x)
        finally:
            x.shape  # noqa: B018

    saved = torch.compiler.disable(lambda x: x.exp())
    x = torch.ones(2, requires_grad=True)
    assert "aten.detach.default" in operators(graphlens.explain(gives_up)(x, True))
    assert "aten.detach.default" not in operators(graphlens.explain(gives_up)(x, False))


def test_an_active_mode_of_the_users_is_said() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False):
        report = graphlens.explain(add_half)(torch.ones(2), 0.5)
    assert isinstance(report.eager, Unavailable)
    assert "mode is active" in report.eager.reason


def test_a_mode_that_the_program_enters_sees_what_it_would() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    flops = SimpleQueue()

    def counts(x: torch.Tensor) -> torch.Tensor:
        with FlopCounterMode(display=False) as counter:
            y = x @ x
        flops.put(counter.get_total_flops())
        return y

    report = graphlens.explain(counts)(torch.ones(4, 4))
    assert flops.get_nowait() == 2 * 4**3
    assert "aten.mm.default" in operators(report)
    assert dispatch.active_modes() == 0


def test_an_error_keeps_what_was_counted() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        try:
            raise KeyError(x.sum().item())
        finally:
            x.shape  # noqa: B018

    with pytest.raises(KeyError) as caught:
        graphlens.explain(fails)(torch.ones(2))
    assert "aten._local_scalar_dense.default" in operators(caught.value.graphlens_report)
    assert dispatch.active_modes() == 0


def test_missing_parts_of_torch_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise AttributeError("no such stack")

    monkeypatch.setattr(dispatch, "active_modes", absent)
    report = graphlens.explain(add_half)(torch.ones(2), 0.5)
    assert report.eager == Unavailable(
        "operators could not be watched (no such stack); graphlens doctor says which torch fits"
    )
    assert len(report.graphs) == 1


def test_a_graph_runs_as_without_watching() -> None:
    """With a dispatch mode active, torch computes these singular values another way."""
    x = torch.tensor([[2.0, 1.0], [1.0, 3.0]]).atan()
    results = SimpleQueue()
    graphlens.explain(noting(torch.linalg.svdvals, results))(x)
    found, *_ = results.get_nowait()
    assert found == torch.linalg.svdvals(x).tolist()


# Programs of kinds that a dispatch mode is known to disturb.


def conditional(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,))


def conditional_in_eager(x: torch.Tensor) -> torch.Tensor:
    return off_dynamo(conditional, x)


@torch.compiler.disable
def off_dynamo(function: object, *args: object) -> object:
    return function(*args)


def checkpointed(x: torch.Tensor) -> torch.Tensor:
    from torch.utils.checkpoint import checkpoint

    x = x.detach().requires_grad_()
    y = checkpoint(lambda v: v.sin().exp(), x, use_reentrant=False)
    y.sum().backward()
    return x.grad


def attends(x: torch.Tensor) -> torch.Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    q = x.repeat(4, 4)[None, None]
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score + i - j)


def transformed(x: torch.Tensor) -> torch.Tensor:
    def loss(v: torch.Tensor) -> torch.Tensor:
        return v.sin().sum()

    return torch.func.vmap(torch.func.grad(loss))(x) + torch.func.jvp(loss, (x,), (x,))[1]


def two_tensors(x: torch.Tensor) -> torch.Tensor:
    from torch.testing._internal.two_tensor import TwoTensor

    pair = TwoTensor(x, x * 2)
    torch._dynamo.graph_break()
    return (pair.sin() + 1).b


def nested(x: torch.Tensor) -> torch.Tensor:
    inner = torch.compile(lambda v: v.cos() * 2, backend="eager")
    return inner(x)


def changes(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    x[0] = 5
    return torch.nn.functional.dropout(x) + torch.rand_like(x)


def with_double(x: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_()
    (grad,) = torch.autograd.grad(x.sin().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(grad.sum(), x)
    return second


def with_compiled_autograd(x: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_()
    y = (x.sin() * 2).sum()
    torch._dynamo.graph_break()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        y.backward()
    return x.grad


def noting(program: object, results: SimpleQueue) -> object:
    """A program that notes its result, which explaining it does not return.

    In a queue, as explaining empties a list again.
    """

    def run(x: torch.Tensor) -> torch.Tensor:
        value = program(x)
        torch._dynamo.graph_break()
        note_result(results, value)
        return value

    return run


@torch.compiler.disable
def note_result(results: SimpleQueue, value: torch.Tensor) -> None:
    results.put((value.tolist(), str(value.grad_fn)[:12], torch.get_rng_state().sum().item()))


DELICATE = [
    conditional, conditional_in_eager, checkpointed, attends, transformed, two_tensors, nested, changes,
    with_double, with_compiled_autograd, programs.printing_loop, programs.Outer(),
]  # fmt: skip


def facts(report: Report) -> object:
    breaks = [(b.line, b.kind, b.consequence, b.records) for b in report.breaks]
    frames = [(f.function, f.outcome) for f in report.frames]
    graphs = [([str(n.target) for n in g.nodes], g.stage, g.hits) for g in report.graphs]
    return breaks, frames, graphs, [r.compile_id for r in report.recompiles]


# Torch's of its own: jvp uses torch.jit, flex_attention says that it was not compiled.
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore:`torch.jit:FutureWarning")
@pytest.mark.parametrize(
    ("program", "inner"),
    [(program, "eager") for program in DELICATE]
    + [(program, "aot_eager") for program in (checkpointed, transformed, changes)],
    ids=lambda p: p if isinstance(p, str) else getattr(p, "__name__", "module"),
)
def test_counting_changes_nothing(
    program: object, inner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for watch in (True, False):
        torch._dynamo.reset()
        torch.manual_seed(0)
        with monkeypatch.context() as patched:
            if not watch:
                no_watch = lambda self: contextlib.nullcontext()  # noqa: E731
                patched.setattr(eager_operators.OperatorsOutsideGraphs, "counted", no_watch)
            results = SimpleQueue()
            report = graphlens.explain(noting(program, results), inner=inner)(torch.rand(4, 4))
            assert isinstance(report.eager, tuple)
        seen.append((results.get_nowait(), facts(report)))
    assert seen[0] == seen[1]
