"""explain: what others compile is neither shown nor dropped; compiled modules; empty calls."""

import gc
import threading
import weakref

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens._torch.isolation import compiled_entries
from programs import printing_loop, scaled

pytestmark = pytest.mark.usefixtures("compiles")


class Backend:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, gm: torch.fx.GraphModule, inputs: object) -> object:
        self.calls += 1
        return gm.forward


def tripled(x: torch.Tensor) -> torch.Tensor:
    return x * 3


def while_explaining(work: object, shared: object = None) -> object:
    """The report of a function in whose middle another thread does some work."""
    ready, done = threading.Event(), threading.Event()

    def other() -> None:
        ready.wait(60)
        work()
        done.set()

    def waits(x: torch.Tensor) -> torch.Tensor:
        if shared is not None:
            x = shared(x)
        torch._dynamo.graph_break()
        ready.set()
        assert done.wait(60)
        return x + 1

    thread = threading.Thread(target=other)
    thread.start()
    report = graphlens.explain(waits)(torch.ones(3))
    thread.join()
    return report


def test_what_another_thread_compiles_stays_and_is_not_shown() -> None:
    backend = Backend()
    compiled = torch.compile(tripled, backend=backend)
    report = while_explaining(lambda: compiled(torch.ones(3)))
    compiled(torch.ones(3))
    assert backend.calls == 1
    assert "tripled" not in {frame.function for frame in report.frames}
    assert all(graph.function != "tripled" for graph in report.graphs)


def test_a_graph_of_another_threads_graphlens_backend_is_not_shown() -> None:
    options = {"graphlens.show": "none"}
    compiled = torch.compile(tripled, backend="graphlens_eager", options=options)
    report = while_explaining(lambda: compiled(torch.ones(3)))
    assert all(graph.function != "tripled" for graph in report.graphs)


def test_sizes_another_thread_saw_stay_learned() -> None:
    def work() -> None:
        compiled = torch.compile(tripled, backend="eager")
        compiled(torch.ones(3))
        compiled(torch.ones(4))

    while_explaining(work)
    with graphlens.record() as lens:
        torch.compile(tripled, backend=Backend())(torch.ones(9))
    (graph,) = lens.report().graphs
    assert graph.symbols


def test_a_function_that_both_compile_keeps_the_others() -> None:
    backend = Backend()
    compiled = torch.compile(tripled, backend=backend)
    helper = torch._dynamo.disable(lambda: None)

    def shared(x: torch.Tensor) -> torch.Tensor:
        helper()
        return tripled(x)

    report = while_explaining(lambda: compiled(torch.ones(3)), shared)
    assert report.graphs
    compiled(torch.ones(3))
    assert backend.calls == 1


def test_nothing_is_kept_of_a_function_the_user_compiled_too() -> None:
    compiled = torch.compile(scaled, backend="eager")
    compiled(torch.ones(3), 2)
    for size in (4, 5):
        graphlens.explain(scaled)(torch.ones(size), 2)
    assert compiled_entries(scaled.__code__) == 1
    with graphlens.record() as lens:
        compiled(torch.ones(3), 2)
    assert lens.report().frames == ()


def test_an_explained_module_is_not_kept_alive() -> None:
    model = torch.nn.Linear(3, 3)
    weight = weakref.ref(model.weight)
    graphlens.explain(model)(torch.ones(2, 3))
    del model
    gc.collect()
    assert weight() is None


class Breaks(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.sin()
        torch._dynamo.graph_break()
        return x.cos()


@pytest.mark.parametrize("called_before", [False, True])
def test_a_module_compiled_in_place(called_before: bool) -> None:
    backend = Backend()
    model = Breaks()
    model.compile(backend=backend)
    if called_before:
        model(torch.ones(3))
    before, implementation = backend.calls, model._compiled_call_impl
    report = graphlens.explain(model)(torch.ones(3))
    assert {graph.inner_backend for graph in report.graphs} == {"eager"}
    assert len(report.graphs) == 2
    assert len(report.breaks) == 1
    assert backend.calls == before
    assert model._compiled_call_impl is implementation
    model(torch.ones(3))
    assert backend.calls == 2


def test_a_compiled_module_that_was_compiled_in_place() -> None:
    backend = Backend()
    model = Breaks()
    model.compile(backend=backend)
    report = graphlens.explain(torch.compile(model, backend="eager"))(torch.ones(3))
    assert len(report.graphs) == 2
    assert backend.calls == 0


def nothing_captured(report: object) -> list[object]:
    return [note for note in report.notes if note.code == "nothing-captured"]


def test_a_call_that_compiles_nothing_says_so() -> None:
    with torch.compiler.set_stance("force_eager"):
        report = graphlens.explain(tripled)(torch.ones(3))
    (note,) = nothing_captured(report)
    assert "set_stance" in note.hint
    assert nothing_captured(graphlens.explain(tripled)(torch.ones(3))) == []


def test_a_function_given_up_on_before_says_so() -> None:
    torch.compile(printing_loop, backend="eager")(torch.ones(2))
    assert nothing_captured(graphlens.explain(printing_loop)(torch.ones(2)))


def test_two_explanations_at_once_leave_nothing() -> None:
    reports = []

    def work() -> None:
        reports.append(graphlens.explain(tripled)(torch.ones(3)))

    report = while_explaining(work, tripled)
    assert [len(r.graphs) for r in reports] == [1]
    assert report.graphs
    with graphlens.record() as lens:
        torch.compile(tripled, backend="eager")(torch.ones(7))
    (graph,) = lens.report().graphs
    assert graph.symbols == ()
