"""Compile ids told apart, and hits of breaks. Expected values by hand."""

import msgspec

from graphlens.analysis.compilations import CompilationKey, EpochClock, by_compilation
from graphlens.analysis.frames import collect_frames
from graphlens.analysis.recompiles import collect_recompiles
from graphlens.model import Graph, GraphBreak, SourceLocation, TraceRecord, Unavailable
from hand_graphs import hits_of


def start(compile_id: str, function: str = "f", line: int = 1, attempt: int = 0) -> TraceRecord:
    stack = [{"filename": "run.py", "line": 90, "name": "<module>"}]
    stack.append({"filename": "m.py", "line": line, "name": function})
    return TraceRecord(
        kind="dynamo_start", compile_id=compile_id, attempt=attempt, data={"stack": stack}
    )


def metrics(compile_id: str, **data: object) -> TraceRecord:
    return TraceRecord(
        kind="compilation_metrics", compile_id=compile_id, data={"graph_op_count": 1, **data}
    )


def text(compile_id: str) -> TraceRecord:
    return TraceRecord(kind="dynamo_output_graph", compile_id=compile_id)


def reasons(compile_id: str) -> TraceRecord:
    return TraceRecord(kind="recompile_reasons", compile_id=compile_id, payload="0/0: x == 1")


def with_epochs(records: list[TraceRecord]) -> list[TraceRecord]:
    clock = EpochClock()
    return [msgspec.structs.replace(record, epoch=clock.tick(record)) for record in records]


def epochs(*compile_ids: str) -> list[int]:
    clock = EpochClock()
    return [clock.tick(start(compile_id)) for compile_id in compile_ids]


def test_numbers_that_go_on_are_one_epoch() -> None:
    assert epochs("0/0", "1/0", "0/1", "2/0", "1/1", "0/2") == [0] * 6


def test_numbers_that_begin_again_are_a_new_epoch() -> None:
    assert epochs("0/0", "1/0", "0/0", "0/1", "1/0") == [0, 0, 1, 1, 1]
    assert epochs("4/0", "0/0", "1/0") == [0, 1, 1]
    assert epochs("0/0", "0/1", "0/1") == [0, 0, 1]


def test_tracing_started_again_is_no_new_epoch() -> None:
    clock = EpochClock()
    assert [clock.tick(start("0/0", attempt=n)) for n in range(3)] == [0, 0, 0]


def test_functions_of_two_epochs_are_two_frames() -> None:
    records = with_epochs(
        [
            start("0/0", "first"), text("0/0"), metrics("0/0"),
            start("0/0", "second", 7), text("0/0"), metrics("0/0"),
            reasons("0/1"), start("0/1", "second", 7), text("0/1"), metrics("0/1"),
        ]
    )  # fmt: skip
    assert list(by_compilation(records)) == [
        CompilationKey(0, "0/0"), CompilationKey(1, "0/0"), CompilationKey(1, "0/1"),
    ]  # fmt: skip
    frames = collect_frames(records)
    assert [(f.id, f.function, f.outcome) for f in frames] == [
        ("0", "first", "compiled"),
        ("0@2", "second", "compiled"),
    ]
    assert [len(f.compilations) for f in frames] == [1, 2]
    assert frames[0].compilations[0].called_from == SourceLocation(
        file="run.py", line=90, function="<module>"
    )
    assert [(r.frame, r.function) for r in collect_recompiles(records)] == [("0@2", "second")]


def test_reasons_at_the_limit_are_no_recompile() -> None:
    limit = "Dynamo recompile limit exceeded\n  Explanation: ..."
    records = [
        start("0/0"), text("0/0"), metrics("0/0"),
        reasons("0/1"), start("0/1"), metrics("0/1", fail_type="SkipFrame", fail_reason="given up"),
        reasons("0/2"), metrics("0/2", fail_type="Unsupported", fail_reason=limit),
    ]  # fmt: skip
    assert [r.compile_id for r in collect_recompiles(records)] == ["0/1"]
    (frame,) = collect_frames(records)
    assert [c.outcome for c in frame.compilations] == ["compiled", "skipped", "recompile_limit"]
    assert frame.outcome == "skipped"
    assert frame.reason == "given up\n1 of 3 compilations stay in use for calls that fit them."


def test_records_of_no_frame_make_no_frame() -> None:
    assert collect_frames([metrics("!0"), metrics("")]) == ()
    assert [f.id for f in collect_frames([start("!0/1/0"), text("!0/1/0")])] == ["!0/1"]


def graph(compile_id: str, function: str, line: int, hits: int | Unavailable) -> Graph:
    source = SourceLocation(file="m.py", line=line, function=function)
    return Graph(
        id=compile_id, compile_id=compile_id, stage="dynamo", nodes=(), function=function,
        source=source, hits=hits,
    )  # fmt: skip


def test_hits_of_a_break_that_torch_meets_for_callers_too() -> None:
    found = GraphBreak(
        file="m.py", line=12, kind="k", function="forward", compile_ids=("0/0", "1/0", "1/1")
    )
    outer, inner = graph("0/0", "forward", 3, 5), graph("1/0", "forward", 10, 4)
    again, later = graph("1/1", "forward", 10, 1), graph("1/0", "forward", 40, 9)
    assert hits_of(found, [outer, inner, again, later]) == 5
    resumed = graph("1/0", "torch_dynamo_resume_in_forward_at_11", 11, 2)
    assert hits_of(found, [outer, inner, resumed]) == 6


def test_hits_that_nothing_counts() -> None:
    found = GraphBreak(file="m.py", line=12, kind="k", function="f", compile_ids=("0/0",))
    assert isinstance(hits_of(found, []), Unavailable)
    assert isinstance(hits_of(found, [graph("0/0", "g", 1, 3)]), Unavailable)
    assert isinstance(hits_of(found, [graph("0/0", "f", 1, Unavailable("no"))]), Unavailable)
    skipped = msgspec.structs.replace(found, consequence="frame_skipped")
    assert isinstance(hits_of(skipped, [graph("0/0", "f", 1, 3)]), Unavailable)
