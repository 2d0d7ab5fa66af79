"""The backends: same behaviour as the inner backend, options, errors, printing."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.capture.options import split_options
from graphlens.errors import UsageError
from programs import Stack, branching, scaled

pytestmark = pytest.mark.usefixtures("compiles")
QUIET = {"graphlens.show": "none"}
NAMES = ("graphlens", "graphlens_eager", "graphlens_aot_eager")


def test_torch_finds_the_backends_by_name() -> None:
    assert set(NAMES) <= set(torch.compiler.list_backends())


def test_options_that_are_not_ours_stay_untouched() -> None:
    given = {"graphlens.rows": 5, "max_autotune": True, "trace.graph_diagram": False}
    ours, others = split_options(given)
    assert ours.rows == 5
    assert others == {"max_autotune": True, "trace.graph_diagram": False}


def test_an_unknown_option_lists_the_valid_ones_nearest_first() -> None:
    with pytest.raises(UsageError, match=r"graphlens\.shwo.*nearest first: graphlens\.show, "):
        split_options({"graphlens.shwo": "none"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graphlens.show": "all"}, "none, summary, table, code"),
        ({"graphlens.rows": 0}, "above 0"),
        ({"graphlens.rows": True}, "above 0"),
        ({"graphlens.inner": 3}, "backend's name or a callable"),
    ],
)
def test_wrong_values_say_what_is_right(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        split_options(options)


def test_a_wrong_option_reaches_the_user_through_torch() -> None:
    compiled = torch.compile(scaled, backend="graphlens", options={"graphlens.shwo": "none"})
    with pytest.raises(Exception, match=r"Valid, nearest first: graphlens\.show"):
        compiled(torch.ones(2), 2)


def test_inductors_own_check_of_options_and_modes() -> None:
    for keywords in ({"options": {"no_such": 1, **QUIET}}, {"mode": "no-such-mode"}):
        with pytest.raises(Exception) as ours:
            torch.compile(scaled, backend="graphlens", **keywords)(torch.ones(2), 2)
        with pytest.raises(RuntimeError) as theirs:
            torch.compile(
                scaled,
                backend="inductor",
                mode=keywords.get("mode"),
                options={"no_such": 1} if "options" in keywords else None,
            )
        assert str(theirs.value)[:40] in str(ours.value)


def test_a_failure_of_the_inner_backend_names_the_inner_backend() -> None:
    def broken(gm: torch.fx.GraphModule, inputs: object) -> object:
        raise ValueError("no luck")

    compiled = torch.compile(scaled, backend=graphlens.backend(inner=broken, show="none"))
    with pytest.raises(Exception, match="backend='broken' raised:\nValueError: no luck"):
        compiled(torch.ones(2), 2)


def test_an_inner_backend_that_is_not_registered() -> None:
    compiled = torch.compile(scaled, backend=graphlens.backend(inner="inducto", show="none"))
    with pytest.raises(
        Exception, match=r"There is no backend .inducto.\. Valid, nearest first: inductor"
    ):
        compiled(torch.ones(2), 2)


def test_mode_and_options_reach_a_callable_inner_backend() -> None:
    seen = {}

    def inner(gm: torch.fx.GraphModule, inputs: object, **keywords: object) -> object:
        seen.update(keywords)
        return gm.forward

    backend = graphlens.backend(inner=inner, show="none")
    torch.compile(scaled, backend=backend, options={"level": 3})(torch.ones(2), 2)
    assert seen == {"options": {"level": 3}}
    seen.clear()
    torch._dynamo.reset()
    torch.compile(scaled, backend=backend, mode="fast")(torch.ones(2), 2)
    assert seen == {"mode": "fast"}


def test_fullgraph_raises_as_with_eager() -> None:
    compiled = torch.compile(branching, backend="graphlens_eager", options=QUIET, fullgraph=True)
    with graphlens.record() as lens, pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(torch.ones(3), torch.ones(3))
    (frame,) = lens.report().frames
    assert frame.outcome == "failed"
    assert "Data-dependent" in frame.reason


def test_disable_compiles_nothing() -> None:
    with graphlens.record() as lens:
        torch.compile(scaled, backend="graphlens", disable=True)(torch.ones(2), 2)
    assert lens.report().graphs == ()
    assert lens.report().frames == ()


@pytest.mark.parametrize("name", NAMES)
def test_same_values_and_gradients_as_the_inner_backend(name: str) -> None:
    inner = {"graphlens": "inductor"}.get(name, name.removeprefix("graphlens_"))
    results = []
    for backend, options in ((inner, None), (name, QUIET)):
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = Stack()
        x = torch.randn(4, 8, requires_grad=True)
        y = torch.compile(model, backend=backend, options=options)(x)
        y.square().sum().backward()
        results.append([y, x.grad, *(p.grad for p in model.parameters()), *model.buffers()])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize(
    ("show", "expected", "absent"),
    [("none", "", "graphlens:"), ("summary", "2 operators", "aten"), ("table", "Tensor.cos", "class"),
     ("code", "def forward", "Tensor.cos")],
)  # fmt: skip
def test_what_is_printed(show: str, expected: str, absent: str) -> None:
    program = (
        "import torch\n"
        "f = torch.compile(lambda x: x.cos() + 1, backend='graphlens_eager',"
        f" options={{'graphlens.show': {show!r}}})\n"
        "f(torch.ones(2))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert expected in run.stdout
    assert absent not in run.stdout
    last = run.stdout.rstrip("\n").rpartition("\n")[2]
    if show == "none":
        assert run.stdout == ""
    else:
        assert last == (
            "graphlens: 1 graph, 0 graph breaks, 0 frames ran eager, 0 recompiles. "
            "Full report: options={'graphlens.out': 'folder'} or GRAPHLENS_OUT=folder"
        )


def test_out_writes_the_report_when_the_process_ends(tmp_path) -> None:
    out = tmp_path / "made" / "here"
    program = (
        "import torch\n"
        "f = torch.compile(lambda x: x.cos() + 1, backend='graphlens_aot_eager')\n"
        "f(torch.ones(2))\n"
        "raise SystemExit(5)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=False,
        env={**os.environ, "GRAPHLENS_OUT": str(out), "GRAPHLENS_SHOW": "summary"},
    )  # fmt: skip
    assert run.returncode == 5
    assert f"Full report: {out}/report.html" in run.stdout
    report = graphlens.load(out / "report.json")
    assert [g.stage for g in report.graphs] == ["dynamo", "inference"]
    assert (out / "report.html").exists()
    assert len(list((out / "graphs").glob("*.svg"))) == 2


def test_an_unwritable_folder_is_one_sentence_before_any_work(tmp_path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(graphlens.GraphLensError, match="cannot be written"):
        graphlens.backend(out=str(blocked / "folder"))
    with pytest.raises(graphlens.GraphLensError, match="cannot be written"):
        graphlens.record(out=str(blocked / "folder"))


def test_a_reader_that_has_gone_away_does_not_end_the_program() -> None:
    program = (
        "import torch, sys\n"
        "f = torch.compile(lambda x: x.cos() + 1, backend='graphlens_eager')\n"
        "assert f(torch.ones(2)).tolist() == (torch.ones(2).cos() + 1).tolist()\n"
        "print('went on', file=sys.stderr)\n"
    )
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [sys.executable, "-c", program],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert run.stderr.startswith("went on")
    assert "graphlens" not in run.stderr


def test_a_library_that_only_imports_graphlens_prints_nothing() -> None:
    program = (
        "import graphlens, torch; torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == ""


def test_a_forked_child_prints_no_summary_of_its_parent() -> None:
    program = (
        "import os, sys, torch\n"
        "f = torch.compile(lambda x: x + 1, backend='graphlens_eager', options={'graphlens.show': 'summary'})\n"
        "f(torch.ones(2))\n"
        "child = os.fork()\n"
        "if not child: sys.exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.count("Full report") == 1


@pytest.mark.skipif(
    torch.__version__ < "2.12", reason="torch 2.11 itself crashes when threads compile at once"
)
def test_threads_that_use_the_name_for_the_first_time_at_once() -> None:
    program = (
        "import threading, torch\n"
        "ready = threading.Barrier(8)\n"
        "def work(number):\n"
        "    ready.wait()\n"
        "    f = torch.compile(lambda x: x + number, backend='graphlens_eager')\n"
        "    assert f(torch.zeros(2)).tolist() == [number, number]\n"
        "    print('done')\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
    )
    environment = {**os.environ, "GRAPHLENS_SHOW": "none"}
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert run.stdout.split() == ["done"] * 8, run.stderr


def test_an_entry_point_that_others_loaded_before_torch() -> None:
    program = (
        "from importlib.metadata import entry_points\n"
        "for entry in entry_points(group='torch_dynamo_backends'): entry.load()\n"
        "import torch\n"
        "f = torch.compile(lambda x: x + 1, backend='graphlens_eager')\n"
        "print(f(torch.zeros(1)).tolist())\n"
    )
    environment = {**os.environ, "GRAPHLENS_SHOW": "none"}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout.split() == ["[1.0]"]


def test_an_equal_backend_object_does_not_compile_again() -> None:
    with graphlens.record() as lens:
        for _ in range(4):
            backend = graphlens.backend(inner="eager", show="none")
            torch.compile(scaled, backend=backend)(torch.ones(2), 2)
    assert len(lens.report().graphs) == 1


@pytest.mark.slow
def test_what_torch_saves_ahead_of_time_stays_as_it_is() -> None:
    if not hasattr(torch.compile(scaled), "aot_compile"):
        pytest.skip("this torch has no aot_compile")
    compiled = torch.compile(scaled, backend="graphlens", options=QUIET, fullgraph=True)
    assert compiled.aot_compile(((torch.ones(2), 2), {}))(torch.ones(2), 2).tolist() == [2.0, 2.0]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes on exceptions came with Python 3.11")
def test_a_missing_compiler_says_what_to_do(tmp_path) -> None:
    program = (
        "import torch\n"
        "f = torch.compile(lambda x: x.cos() + 1, backend='graphlens')\n"
        "try: f(torch.ones(7))\n"
        "except Exception as error: print(type(error).__name__, *error.__notes__)\n"
    )
    environment = {
        **os.environ,
        "CXX": "/no/such/compiler",
        "GRAPHLENS_SHOW": "none",
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout.startswith("InductorError graphlens: Inductor found no C++ compiler")
    assert "apt-get install g++" in run.stdout
