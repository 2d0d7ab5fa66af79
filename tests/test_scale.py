"""Large runs: reports take seconds, grow in step with the run, and stay readable."""

import importlib.util
import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from graphlens import registry
from graphlens.analysis.assemble import assemble
from graphlens.analysis.compilation_graphs import LiveGraph
from graphlens.model import Environment, Report, TraceRecord, Unavailable
from graphlens.model.schema import from_json

pytestmark = pytest.mark.alone  # measures seconds and memory

FILE = "/home/me/large.py"
ENVIRONMENT = Environment(graphlens="0", torch="2.14.1", python="3.11")
FORMATS = (".md", ".json")
SUMMARY_LINES = 400  # whatever the size of the run

BREAK = """Graph break in user code at {file}:{line}
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print` with argument types ['str'] (has_kwargs False)
  Hint: Avoid calling builtin `print` with argument types ['str']. Consider using an equivalent alternative function/method to `print`.
  Hint: If you are attempting to call a logging function (e.g. `print`), you can try adding it to `torch._dynamo.config.reorderable_logging_functions`.
  Hint: Please report an issue to PyTorch.

  Developer debug context: builtin print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html

User code traceback:
  File "{file}", line 9000, in <module>
    step(torch.ones(n))
  File "{file}", line {line}, in step_{number}
    print("here")

Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/_dynamo/symbolic_convert.py", line 1105, in wrapper
    return inner_fn(self, inst)
           ^^^^^^^^^^^^^^^^^^^^
"""  # torch 2.14

GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[{size}][1]cpu"):
        l_x_ = L_x_

        # File: {file}:{line} in step_{number}, code: x = x + 1
        x: "f32[{size}][1]cpu" = l_x_ + 1;  l_x_ = None
        return (x,)
"""  # torch 2.14


def source_lines(functions: int) -> tuple[str, ...]:
    """Functions that each break at a line of its own."""
    lines = ["import torch", ""]
    for number in range(functions):
        lines += [
            f"def step_{number}(x):",
            "    x = x + 1",
            '    print("here")',
            "    return x * 2",
            "",
        ]
    return tuple(lines)


def records(functions: int, sizes: int = 3) -> list[TraceRecord]:
    """What torch logs where each function is compiled for one size after the other."""
    found: list[TraceRecord] = []
    for turn in range(sizes):
        for number in range(functions):
            found += _compilation(number, turn)
    return found


def _compilation(number: int, turn: int) -> list[TraceRecord]:
    """The records of one compilation, in torch's order."""
    compile_id, first, size = f"{number}/{turn}", 5 * number + 3, turn + 3
    stack = [
        {"filename": FILE, "line": 9000, "name": "<module>", "loc": "step(torch.ones(n))"},
        {"filename": FILE, "line": first, "name": f"step_{number}"},
    ]
    texts = {"file": FILE, "number": number, "size": size}
    metrics = {
        "entire_frame_compile_time_s": 0.2, "backend_compile_time_s": 0.1, "graph_op_count": 1,
        "guard_count": 9, "co_name": f"step_{number}", "restart_reasons": ["Failed to trace"],
    }  # fmt: skip
    reasons = [
        f"{number}/{earlier}: tensor 'x' size mismatch at index 0. expected {earlier + 3}, actual {size}"
        for earlier in reversed(range(turn))
    ]
    return [
        *(_record("recompile_reasons", compile_id, "\n".join(reasons)) for _ in reasons[:1]),
        _record("dynamo_start", compile_id, stack=stack),
        _record("dynamo_graph_break_reason", compile_id, BREAK.format(line=first + 2, **texts)),
        _record("dynamo_output_graph", compile_id, GRAPH.format(line=first + 1, **texts), 1),
        _record("compilation_metrics", compile_id, "", 1, **metrics),
    ]


def _record(
    kind: str, compile_id: str, payload: str = "", attempt: int = 0, **data: object
) -> TraceRecord:
    return TraceRecord(
        kind=kind, compile_id=compile_id, payload=payload, attempt=attempt, data=data
    )


def rendered(report: Report) -> dict[str, str]:
    """The report in each format, and as it is printed."""
    texts = {suffix: registry.renderer(suffix).report(report) for suffix in FORMATS}
    return {**texts, "summary": str(report)}


def assembled_and_rendered(found: list[TraceRecord], functions: int = 0) -> dict[str, str]:
    """The texts; with the source of so many functions at hand."""
    lines = source_lines(functions)
    return rendered(assemble(found, [], ENVIRONMENT, read=lambda _: lines))


def best_of_three(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest run: what the work takes on a machine that does nothing else."""
    seconds = []
    for _ in range(3):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
        if seconds[-1] > 10:  # nothing that happens to disturb a run costs so much
            break
    return min(seconds)


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_breaks_and_recompiles_are_all_there() -> None:
    report = assemble(records(500), [], ENVIRONMENT)
    assert not isinstance(report.breaks, Unavailable)
    assert not isinstance(report.recompiles, Unavailable)
    assert (len(report.breaks), len(report.recompiles)) == (500, 1000)
    assert {one.records for one in report.breaks} == {3}


AT_HAND = [pytest.param(0, id="trace"), pytest.param(500, id="source")]


@pytest.mark.parametrize("at_hand", AT_HAND)
def test_a_report_of_500_breaks_and_1000_recompiles_takes_seconds(at_hand: int) -> None:
    found = records(500)
    seconds = best_of_three(lambda: assembled_and_rendered(found, at_hand))
    print(f"500 breaks and 1,000 recompiles, assembled and rendered: {seconds:.2f} s")
    assert seconds < 2


@pytest.mark.parametrize("at_hand", AT_HAND)
def test_time_and_memory_grow_in_step_with_the_run(at_hand: int) -> None:
    def work(functions: int) -> Callable[[], object]:
        found = records(functions)
        return lambda: assembled_and_rendered(found, functions if at_hand else 0)

    half, whole = work(100), work(200)
    seconds = best_of_three(whole) / best_of_three(half)
    memory = peak_bytes(whole) / peak_bytes(half)
    print(f"twice the run: {seconds:.2f} times the time, {memory:.2f} times the memory")
    assert seconds < 2.5
    assert memory < 2.5


def test_the_printed_summary_of_a_large_run_stays_readable() -> None:
    found = records(500)
    text = str(assemble(found, live_graphs(found), ENVIRONMENT))
    lines = text.splitlines()
    assert len(lines) < SUMMARY_LINES
    assert "500 graph breaks at 500 lines" in " ".join(lines[:3])
    assert "1,000 recompiles" in " ".join(lines[:3])
    for number in range(3):
        assert f"{FILE}:{5 * number + 5}" in text
    assert any(line.startswith("... ") and "more graph break" in line for line in lines)


def test_notes_of_a_large_trace_are_short() -> None:
    report = assemble(records(500), [], ENVIRONMENT)
    (note,) = report.notes
    first = [f"{number}/0.dynamo" for number in range(5)]
    assert len(note.message) < 500
    assert note.message.startswith(f"{', '.join(first)} and 1,495 more: ")


def recompiled(times: int) -> Report:
    """One function that is compiled again and again: each time torch names all it had before."""
    found = []
    for new in range(1, times + 1):
        reasons = [
            f"0/{old}: tensor 'x' size mismatch at index 0. expected {old}, actual {new}"
            for old in reversed(range(new))
        ]
        found += [
            _record("recompile_reasons", f"0/{new}", json.dumps(reasons)),
            _record("dynamo_start", f"0/{new}", stack=[{"filename": FILE, "line": 3, "name": "f"}]),
            _record("compilation_metrics", f"0/{new}", co_name="f"),
        ]
    return assemble(found, [], ENVIRONMENT)


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_the_recompiles_of_one_function_grow_in_step_with_their_number(suffix: str) -> None:
    renderer = registry.renderer(suffix)
    sizes = [len(renderer.report(recompiled(times))) for times in (50, 100, 200)]
    print(f"50, 100 and 200 recompiles: {sizes} characters")
    assert sizes[2] - sizes[1] < 2.2 * max(sizes[1] - sizes[0], 100)


def test_guards_that_a_page_leaves_out_are_counted_and_in_the_json() -> None:
    report = recompiled(20)
    page = registry.renderer(".html").report(report)
    assert "... and 15 more guards: report.json" in page
    assert "0/20 guard of 0/0" not in page
    again = from_json(registry.renderer(".json").report(report).encode())
    assert not isinstance(again.recompiles, Unavailable)
    assert [len(one.causes) for one in again.recompiles] == list(range(1, 21))


def live_graphs(found: list[TraceRecord]) -> list[LiveGraph]:
    """The graphs of a trace, as a backend of ours was given them."""
    read = assemble(found, [], ENVIRONMENT).graphs
    return [
        LiveGraph(0, 1, msgspec.structs.replace(graph, read_from="graph_module", hits=1), {})
        for graph in read
    ]


PROGRAM_HEAD = "import torch\n\n"
PROGRAM_FUNCTION = """
def step_{number}(x):
    x = x + {number}
    torch._dynamo.graph_break()
    return x

"""
SIZES = (3, 4, 5)


@pytest.mark.slow
@pytest.mark.usefixtures("compiles")
def test_a_real_run_of_500_breaks_that_is_compiled_again_twice(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    import graphlens

    path = tmp_path / "large_program.py"
    text = PROGRAM_HEAD + "".join(PROGRAM_FUNCTION.format(number=n) for n in range(500))
    path.write_text(text)
    breaking = {n for n, line in enumerate(text.splitlines(), 1) if "graph_break" in line}
    functions = functions_of(path)
    torch._dynamo.utils.counters.clear()
    with graphlens.record() as lens:
        for function in functions:
            compiled = torch.compile(
                function, backend="graphlens_eager", dynamic=False,
                options={"graphlens.show": "none"},
            )  # fmt: skip
            for size in SIZES:
                compiled(torch.ones(size))
        report = lens.report()
        seconds = best_of_three(lambda: str(lens.report()))
    assert not isinstance(report.breaks, Unavailable)
    assert not isinstance(report.recompiles, Unavailable)
    assert {one.line for one in report.breaks} == breaking
    assert len(report.breaks) == len(breaking) == 500
    assert sum(one.records for one in report.breaks) == breaks_counted_by_torch() == 1500
    assert len(report.recompiles) == recompiles_kept_by_torch() == 1000
    assert {one.hits for one in report.breaks} == {len(SIZES)}
    print(f"report of 500 breaks, {len(report.frames)} frames: {seconds:.2f} s")
    assert seconds < 2


def functions_of(path: Path) -> list[Callable[..., object]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, name) for name in dir(module) if name.startswith("step_")]


def breaks_counted_by_torch() -> int:
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def recompiles_kept_by_torch() -> int:
    """Compilations that torch holds beside the first, over all code it was asked to compile."""
    from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list
    from torch._dynamo.convert_frame import input_codes

    codes = [code for code in (reference() for reference in input_codes.seen) if code is not None]
    held = [len(_debug_get_cache_entry_list(code)) for code in codes]
    return sum(max(0, count - 1) for count in held)
