"""Graphs, breaks, frames and recompiles of real compilations. Expected values by hand."""

import threading

import msgspec
import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.analysis.readable_graph import parse_readable
from graphlens.model import Unavailable, from_json, to_json
from programs import (
    BRANCH_LINE,
    PRINT_LINE,
    Outer,
    Stack,
    branching,
    many_forms,
    printing_loop,
    scaled,
)

pytestmark = pytest.mark.usefixtures("compiles")
QUIET = {"graphlens.show": "none"}
needs_threads = pytest.mark.skipif(
    torch.__version__ < "2.12", reason="torch 2.11 itself crashes when threads compile at once"
)


def by_stage(report, stage):
    return [graph for graph in report.graphs if graph.stage == stage]


def test_dynamo_graph_of_a_module() -> None:
    compiled = torch.compile(Stack(), backend="graphlens_eager", options=QUIET)
    with graphlens.record() as lens:
        compiled(torch.randn(4, 8))
    (graph,) = lens.report().graphs
    assert (graph.id, graph.stage, graph.function) == ("0/0.dynamo", "dynamo", "forward")
    assert graph.inner_backend == "eager"
    assert graph.hits == 1
    # 2 x (linear, relu), the count of batches += 1, batch_norm
    assert [n.target.rpartition(".")[2] for n in graph.operators] == [
        "linear", "relu", "linear", "relu", "add_", "batch_norm",
    ]  # fmt: skip
    assert [n.origin for n in graph.parameters] == [
        "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias",
        "norm.num_batches_tracked", "norm.running_mean", "norm.running_var",
        "norm.weight", "norm.bias",
    ]  # fmt: skip
    assert [n.role for n in graph.parameters].count("buffer") == 3
    (x,) = graph.inputs
    assert (x.shape, x.dtype, x.device) == ((4, 8), "float32", "cpu")
    linear = graph.operators[2]
    assert linear.module == "layers.1"
    assert linear.file == Stack.forward.__code__.co_filename
    assert linear.line == Stack.forward.__code__.co_firstlineno + 2


def test_training_has_forward_and_backward_under_their_graph() -> None:
    model = Stack()
    compiled = torch.compile(model, backend="graphlens_aot_eager", options=QUIET)
    with graphlens.record() as lens:
        compiled(torch.randn(4, 8)).sum().backward()
    report = lens.report()
    assert [g.id for g in report.graphs] == ["0/0.dynamo", "0/0.forward", "0/0.backward"]
    forward, backward = report.graphs[1:]
    assert forward.parameters[0].origin == "layers.0.weight"
    assert {n.module for n in forward.operators if "addmm" in n.target} == {"layers.0", "layers.1"}
    assert "tangent" in {n.role for n in backward.nodes}
    assert "saved" in {n.role for n in backward.nodes}
    assert all(n.target.startswith(("torch.ops.aten.", "operator.")) for n in backward.operators)
    assert any(n.module == "layers.1" for n in backward.operators)


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (Stack(), [torch.randn(4, 8), torch.randn(5, 8)]),
        (many_forms, [torch.tensor([[1.0, 2.0], [3.0, 4.0]])]),
    ],
    ids=["module", "many forms"],
)
def test_the_text_of_a_graph_reads_as_the_live_graph_does(
    program: object, calls: list[object]
) -> None:
    compiled = torch.compile(program, backend="graphlens_eager", options=QUIET)
    with graphlens.record() as lens:
        for argument in calls:
            compiled(argument)
    assert lens.report().graphs
    for graph in lens.report().graphs:
        nodes, subgraphs = parse_readable(graph.code)
        assert [body.name for body in subgraphs] == [body.name for body in graph.subgraphs]
        for live, read in zip(graph.nodes, nodes, strict=True):
            for name in ("name", "op", "target", "inputs", "kwargs", "args", "value", "role"):
                assert getattr(live, name) == getattr(read, name), (live.name, name)
            if read.source is not None:
                assert live.source == read.source, live.name
            # The text names only the tensors in use of a value with several.
            bare = [msgspec.structs.replace(t, requires_grad=None) for t in live.tensors]
            assert len(read.tensors) == len(bare) or live.target in ("split", "topk")
            assert all(spec in bare for spec in read.tensors)


def test_a_reset_starts_a_new_count() -> None:
    def first(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def second(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    with graphlens.record() as lens:
        for function in (first, second):
            torch.compile(function, backend="graphlens_eager", options=QUIET)(torch.ones(2))
            torch._dynamo.reset()
    report = lens.report()
    assert [(g.id, g.function, g.discarded) for g in report.graphs] == [
        ("0/0.dynamo", "first", False),
        ("0/0.dynamo@2", "second", False),
    ]
    assert [(f.id, f.function) for f in report.frames] == [("0", "first"), ("0@2", "second")]


def test_a_module_of_torch_itself_is_named_by_its_class() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    compiled = torch.compile(model, backend="graphlens_aot_eager", options=QUIET)
    with graphlens.record() as lens:
        compiled(torch.ones(2, 4))
    report = lens.report()
    (frame,) = report.frames
    assert frame.file == __file__
    assert {g.function for g in report.graphs} == {frame.function} == {"Sequential"}
    assert {g.source.file for g in report.graphs} == {__file__}


def test_hits_of_a_break_in_an_inner_module() -> None:
    compiled = torch.compile(Outer(), backend="graphlens_eager", options=QUIET)
    with graphlens.record() as lens:
        for _ in range(3):
            compiled(torch.ones(2))
    (found,) = lens.report().breaks
    assert found.hits == 3


def test_pieces_of_a_graph_split_for_distributed_training() -> None:
    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList(torch.nn.Linear(600, 600) for _ in range(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for part in self.parts:
                x = part(x).relu()
            return x

    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        wrapped = torch.nn.parallel.DistributedDataParallel(Layers(), bucket_cap_mb=1)
        with graphlens.record() as lens:
            compiled = torch.compile(wrapped, backend="graphlens_aot_eager", options=QUIET)
            compiled(torch.ones(2, 600)).sum().backward()
    finally:
        torch.distributed.destroy_process_group()
    forwards = by_stage(lens.report(), "forward")
    assert len(forwards) > 1
    for forward in forwards:
        owners = [n.module for n in forward.operators if "addmm" in n.target]
        assert owners
        assert {f"{owner}.weight" for owner in owners} <= {n.origin for n in forward.parameters}
    owners = [n.module for f in forwards for n in f.operators if "addmm" in n.target]
    assert owners == ["parts.0", "parts.1", "parts.2"]


def test_inference_under_a_backend_that_is_not_ours() -> None:
    compiled = torch.compile(Stack().eval(), backend="aot_eager")
    with graphlens.record() as lens, torch.no_grad():
        compiled(torch.randn(4, 8))
    report = lens.report()
    assert [g.stage for g in report.graphs] == ["dynamo", "inference"]
    assert {g.read_from for g in report.graphs} == {"trace"}
    assert isinstance(report.graphs[0].hits, Unavailable)


def test_a_break_has_the_users_line_and_its_hits() -> None:
    compiled = torch.compile(branching, backend="graphlens_eager", options=QUIET)
    a, up, down = torch.ones(3), torch.ones(3), -torch.ones(3)
    with graphlens.record() as lens:
        for b in (up, down, up):
            compiled(a, b)
    report = lens.report()
    assert len(by_stage(report, "dynamo")) == 3
    (found,) = report.breaks
    assert (found.file, found.line) == (branching.__code__.co_filename, BRANCH_LINE)
    assert found.code == "if b.sum() < 0:"
    assert found.consequence == "split"
    assert found.hits == 3
    assert found.explanation
    assert found.hints
    assert [g.hits for g in by_stage(report, "dynamo")] == [3, 2, 1]
    ends = [g.ended_by for g in by_stage(report, "dynamo")]
    assert ends == [f"Data-dependent branching at line {BRANCH_LINE}", "", ""]


def test_a_frame_that_dynamo_gave_up_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(printing_loop, backend="graphlens_eager", options=QUIET)
    with graphlens.record() as lens:
        compiled(torch.ones(3))
    report = lens.report()
    assert report.graphs == ()
    (frame,) = report.frames
    assert (frame.function, frame.outcome) == ("printing_loop", "skipped")
    assert frame.reason
    (found,) = report.breaks
    assert (found.line, found.consequence) == (PRINT_LINE, "frame_skipped")
    assert isinstance(found.hits, Unavailable)


def test_a_recompile_has_guard_and_values() -> None:
    compiled = torch.compile(scaled, backend="graphlens_eager", options=QUIET, dynamic=False)
    with graphlens.record() as lens:
        compiled(torch.ones(3), 2)
        compiled(torch.ones(4), 2)
    (found,) = lens.report().recompiles
    assert (found.function, found.compile_id) == ("scaled", "0/1")
    (cause,) = found.causes
    assert (cause.failed, cause.expected, cause.actual) == ("0/0", "3", "4")


def test_dynamic_sizes_stay_readable_with_their_hint() -> None:
    compiled = torch.compile(scaled, backend="graphlens_eager", options=QUIET, dynamic=True)
    with graphlens.record() as lens:
        compiled(torch.ones(7), 2)
    (graph,) = lens.report().graphs
    (size,) = [s for s in graph.symbols if ".size()" in s.origin]
    assert size.hint == 7
    assert graph.operators[0].shape == (size.name,)


def test_the_recompile_limit_is_an_outcome_of_the_frame() -> None:
    with torch._dynamo.config.patch(recompile_limit=2), graphlens.record() as lens:
        compiled = torch.compile(scaled, backend="graphlens_eager", options=QUIET, dynamic=False)
        for size in range(2, 6):
            compiled(torch.ones(size), 2)
    report = lens.report()
    assert len(report.graphs) == 2
    assert [r.compile_id for r in report.recompiles] == ["0/1"]
    (frame,) = report.frames
    assert frame.outcome == "recompile_limit"


def test_nested_blocks_each_see_their_part() -> None:
    compiled = torch.compile(lambda x: x + 1, backend="graphlens_eager", options=QUIET)
    other = torch.compile(lambda x: x * 3, backend="graphlens_eager", options=QUIET)
    with graphlens.record() as outer:
        compiled(torch.ones(2))
        with graphlens.record() as inner:
            other(torch.ones(2))
        during = outer.report()
        torch.compile(lambda x: x - 5, backend="graphlens_eager", options=QUIET)(torch.ones(2))
    assert len(inner.report().graphs) == 1
    assert len(during.graphs) == 2
    assert len(outer.report().graphs) == 3


@needs_threads
def test_threads_that_compile_at_once() -> None:
    def work(number: int) -> None:
        def own(x: torch.Tensor) -> torch.Tensor:
            return x.cos() + number

        # A code object of its own, so that no thread's compilation guards another's.
        own.__code__ = own.__code__.replace(co_name=f"own_{number}")
        compiled = torch.compile(own, backend="graphlens_eager", options=QUIET)
        compiled(torch.ones(3))

    with graphlens.record() as lens:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    graphs = lens.report().graphs
    assert sorted(g.function for g in graphs) == [f"own_{n}" for n in range(4)]
    assert all([n.target for n in g.operators] == ["cos", "operator.add"] for g in graphs)


def test_mutated_input_keeps_its_meaning() -> None:
    def add_in_place(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2

    compiled = torch.compile(add_in_place, backend="graphlens_aot_eager", options=QUIET)
    x = torch.zeros(3)
    with graphlens.record() as lens:
        y = compiled(x)
    assert x.tolist() == [1.0] * 3
    assert y.tolist() == [2.0] * 3
    inference = lens.report().graphs[1]
    assert "torch.ops.aten.copy_.default" in [n.target for n in inference.operators]


def test_bodies_of_higher_order_operators_are_read() -> None:
    def either(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,))

    compiled = torch.compile(either, backend="graphlens_eager", options=QUIET)
    with graphlens.record() as lens:
        compiled(torch.ones(3))
    (graph,) = lens.report().graphs
    assert [[n.target for n in body.nodes if n.is_operator] for body in graph.subgraphs] == [
        ["sin"],
        ["cos"],
    ]


def test_real_reports_round_trip_as_json() -> None:
    compiled = torch.compile(branching, backend="graphlens_aot_eager", options=QUIET)
    with graphlens.record() as lens:
        compiled(torch.ones(3), torch.ones(3))
        compiled(torch.ones(4), torch.ones(4))
    report = lens.report()
    data = to_json(report)
    assert from_json(data) == report
    assert to_json(from_json(data)) == data


def test_the_process_wide_report_sees_the_named_backend() -> None:
    assert graphlens.report().graphs == ()
    from graphlens.capture.process import process_recorder

    process_recorder()
    torch.compile(lambda x: x + 1, backend="graphlens_eager", options=QUIET)(torch.ones(2))
    assert len(graphlens.report().graphs) == 1
