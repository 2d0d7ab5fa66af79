"""Composed programs: the breaks reported are those that were put in, each once, with its hits."""

import contextlib
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import graphlens
from composed_programs import (
    Expected,
    Function,
    Program,
    entry,
    expected_breaks,
    imported,
    programs,
    read_events,
    write,
)
from graphlens.model import (
    Compilation,
    Frame,
    Graph,
    GraphBreak,
    Report,
    SourceLocation,
    Unavailable,
)
from hand_graphs import hits_of

pytestmark = [
    pytest.mark.usefixtures("compiles"),
    pytest.mark.skipif(
        sys.version_info[:2] != (3, 11), reason="Dynamo's rules were measured on Python 3.11"
    ),
]

# More than these take minutes: GRAPHLENS_PROPERTY_EXAMPLES=300
EXAMPLES = int(os.environ.get("GRAPHLENS_PROPERTY_EXAMPLES", "25"))

# What a call is made with: its size, and where its values lie.
CALLS = st.lists(
    st.tuples(st.sampled_from((3, 4)), st.sampled_from((1.0, -1.0))), min_size=1, max_size=3
)
Calls = list[tuple[int, float]]


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs(), st.booleans(), CALLS)
def test_the_breaks_put_in_are_the_breaks_reported(
    root: Function, callers_first: bool, calls: Calls
) -> None:
    program = write(root, callers_first)
    with tempfile.TemporaryDirectory(prefix="graphlens-composed-") as folder:
        path = Path(folder) / "composed.py"
        expected = expected_breaks(ran_in_eager(path.with_name("logs.py"), program, calls))
        report = reported(path, program, calls)
    assert not isinstance(report.breaks, Unavailable)
    assert {b.file for b in report.breaks} <= {str(path)}
    assert problems(report.breaks, expected) == [], numbered(program)


def test_calls_that_ran_no_graph_are_not_left_out_of_the_hits() -> None:
    """Reached after operators and after none: the graph alone would count only some calls."""
    found = GraphBreak(file="m.py", line=12, kind="k", function="f", compile_ids=("0/0", "1/0"))
    place = SourceLocation(file="m.py", line=9, function="f")
    with_graph = Graph(
        id="0/0", compile_id="0/0", stage="dynamo", nodes=(), function="f", source=place, hits=3
    )
    without = Compilation(compile_id="1/0", outcome="no_graph")
    resumed, caller = (
        Frame(id="1", function=name, file="m.py", line=line, outcome="no_graph", compilations=(without,))
        for name, line in (("torch_dynamo_resume_in_f_at_11", 11), ("caller", 2))
    )  # fmt: skip
    assert isinstance(hits_of(found, [with_graph], [resumed]), Unavailable)
    assert hits_of(found, [with_graph], [caller]) == 3


def test_a_function_that_calls_itself_is_not_one_that_calls_another_of_its_name() -> None:
    def graph(compile_id: str, line: int, hits: int) -> Graph:
        source = SourceLocation(file="m.py", line=line, function="forward")
        return Graph(
            id=compile_id, compile_id=compile_id, stage="dynamo", nodes=(), function="forward",
            source=source, hits=hits,
        )  # fmt: skip

    outer, inner, at = (
        SourceLocation(file="m.py", line=line, function="forward") for line in (4, 11, 12)
    )
    found = GraphBreak(
        file="m.py", line=12, kind="k", function="forward", compile_ids=("0/0", "1/0"),
        stack=(outer, at),
    )  # fmt: skip
    graphs = [graph("0/0", 2, 1), graph("1/0", 10, 5)]
    assert hits_of(found, graphs) == 5
    itself = msgspec.structs.replace(found, stack=(outer, inner, at))
    assert isinstance(hits_of(itself, graphs), Unavailable)


def problems(found: tuple[GraphBreak, ...], expected: list[Expected]) -> list[str]:
    """What is reported that was not put in, the other way round, and what is said wrongly."""
    reported = Counter((one.line, one.kind) for one in found)
    put_in = Counter((one.line, one.kind) for one in expected)
    texts = [f"extra: {one}" for one in (reported - put_in).elements()]
    texts += [f"missing: {one}" for one in (put_in - reported).elements()]
    by_place = {(one.line, one.kind): one for one in expected}
    for one in found:
        wanted = by_place.get((one.line, one.kind))
        if wanted is not None and not agrees(one, wanted):
            texts.append(f"{wanted}, but {one.consequence} with hits {one.hits}")
    return texts


def agrees(one: GraphBreak, wanted: Expected) -> bool:
    if wanted.consequence == "rest_eager":
        # Torch skips the whole function where one of its attempts ends in that.
        return one.consequence == "frame_skipped" or (one.consequence, one.rest_eager) == (
            "split",
            True,
        )
    hits = one.hits if isinstance(one.hits, int) else None
    return (one.consequence, hits) == (wanted.consequence, wanted.hits)


def numbered(program: Program) -> str:
    return "\n".join(f"{n:>4} {text}" for n, text in enumerate(program.source, 1) if n > 50)


def ran_in_eager(path: Path, program: Program, calls: Calls) -> Any:
    path.write_text(program.text(logs=True))
    ran = []
    with imported(path) as module, quiet():
        for arguments in tensors(calls):
            module.EVENTS.clear()
            entry(module, program)(arguments)
            ran.append(read_events(module.EVENTS, program.lines))
    return ran


def reported(path: Path, program: Program, calls: Calls) -> Report:
    path.write_text(program.text())
    torch._dynamo.reset()
    with imported(path) as module, quiet(), graphlens.record() as lens:
        compiled = torch.compile(
            entry(module, program), backend="graphlens_eager", options={"graphlens.show": "none"}
        )
        for arguments in tensors(calls):
            compiled(arguments)
    return lens.report()


def tensors(calls: Calls) -> list[Any]:
    return [torch.linspace(0.25, 0.75, size) * sign for size, sign in calls]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
