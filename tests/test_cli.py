"""The command line, by entry point and as a module: output, exit codes, errors without traceback."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import graphlens
from graphlens import presenter
from graphlens.cli.failures import described
from graphlens.cli.target import load_target

TARGETS = """
import torch

def step(x):
    y = x.cos()
    print("hello from the step")
    return y + 1

def single():
    return step, (torch.ones(3),)

def several():
    return step, [(torch.ones(3),), (torch.ones(4),)]

def fails():
    def run(x):
        raise KeyError("mine")
    return run, (torch.ones(3),)

def shapeless():
    return step

def broken():
    raise RuntimeError("no data here")

def wordless():
    def run(x):
        raise ValueError
    return run, (torch.ones(3),)

def wordless_factory():
    raise ValueError

def loose():
    return step, torch.ones(3)

def limited():
    class Counter(torch.nn.Module):
        calls = 0
        def forward(self, x):
            self.calls += 1
            return x * self.calls
    return Counter(), [(torch.ones(3),)] * 10

def library():
    return torch.linalg.lstsq, (torch.randn(4, 3), torch.randn(4, 2))
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(TARGETS)
    (tmp_path / "script.py").write_text("raise SystemExit(4)\n")
    return path


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "graphlens", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_explain_prints_the_summary_and_writes(target: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    done = run("explain", f"{target}:several", "--tables", "-o", out, "-o", tmp_path / "r.svg")
    assert done.returncode == 0, done.stderr
    assert "1 graph break at 1 line" in done.stdout
    assert f"{target}:6" in done.stdout
    assert "Tensor.cos" in done.stdout
    assert f"wrote {out}" in done.stdout
    report = graphlens.load(out)
    assert len(report.breaks) == 1
    assert (tmp_path / "r.svg").read_text().startswith("<svg")


def test_explain_of_a_module_in_the_current_folder(target: Path) -> None:
    done = run("explain", "program:single", cwd=target.parent)
    assert done.returncode == 0, done.stderr
    assert "program.py:6" in done.stdout


@pytest.mark.parametrize(
    ("target_text", "code", "message"),
    [
        ("program.py:nothing", 2, "has no function 'nothing'. It has: step, single"),
        ("missing.py:single", 2, "There is no file missing.py"),
        ("no_such_module:single", 2, "There is no module no_such_module"),
        ("program.py", 2, "is no target. Give FILE.py:FACTORY"),
        ("program.py:shapeless", 2, "returned function. The factory returns (callable, args)"),
        ("program.py:broken", 3, "raised RuntimeError: no data here"),
        ("program.py:fails", 3, "raised KeyError: 'mine' (at program.py:17 in run)"),
        ("program.py:wordless", 3, "raised ValueError (at program.py:28 in run)\n"),
        ("program.py:wordless_factory", 3, "() raised ValueError (at program.py:32 in wordless_"),
        ("program.py:loose", 2, "are no tuple but Tensor."),
        ("./program:single", 2, "is no module's name, and no .py file"),
        ("script.py:single", 3, "ended the process while it was loaded (SystemExit: 4)"),
    ],
)
def test_mistakes_are_one_message(target: Path, target_text: str, code: int, message: str) -> None:
    done = run("explain", target_text, cwd=target.parent)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("graphlens: ")


@pytest.mark.parametrize("first", [True, False])
def test_traceback_on_request(target: Path, first: bool) -> None:
    command = ["explain", f"{target}:broken"]
    done = run(*(["--traceback", *command] if first else [*command, "--traceback"]))
    assert "Traceback" in done.stderr
    assert "no data here" in done.stderr


@pytest.mark.parametrize("factory", ["limited", "library"])
def test_no_frame_of_ours_is_taken_for_the_users(target: Path, factory: str) -> None:
    console_script = Path(sys.executable).with_name("graphlens")
    done = subprocess.run(
        [console_script, "explain", f"program:{factory}"],
        capture_output=True, text=True, check=False, cwd=target.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("recompile limit" in done.stdout) == (factory == "limited")
    for name in ("graphlens/", "click", "eval_frame", "bin/graphlens"):
        assert name not in done.stdout


def test_the_map_and_the_trees_are_printed_where_they_are_asked_for(target: Path) -> None:
    done = run("explain", f"{target}:single", "--map", "--trees")
    assert done.returncode == 0, done.stderr
    assert "graph 0/0" in done.stdout
    assert "├─ ↓ input" in done.stdout


def test_a_terminal_without_our_signs(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "iso8859-5")  # click makes ASCII UTF-8
    done = run("explain", f"{target}:single", "--tables")
    assert done.returncode == 0, done.stderr
    assert "1 operator ? 1 input" in done.stdout


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError(), "ValueError"),
        (ValueError("  \n\n  "), "ValueError"),
        (ValueError("\n one \n two"), "ValueError: one"),
        (
            RuntimeError("backend='x' raised:\nTypeError: why\n\nmore"),
            "RuntimeError: TypeError: why",
        ),
        (RuntimeError("backend='x' raised:"), "RuntimeError: backend='x' raised:"),
    ],
)
def test_the_line_that_says_what_happened(error: Exception, expected: str) -> None:
    assert described(error) == expected


@pytest.mark.parametrize(
    "name", ["random.py", "torch.py", "not-a-name.py", "two.dots.py", "own.py"]
)
def test_a_file_takes_no_other_modules_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = dict(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / name
    path.write_text("import sys\ndef make(): return len, ([],)\nassert __name__ in sys.modules\n")
    for _ in range(2):
        fn, calls = load_target(f"{path}:make")
        assert (fn, calls) == (len, [(([],), {})])
    added = [module for module in sys.modules if module not in before]
    expected = "own" if name == "own.py" else "graphlens_target_" + re.sub(r"\W", "_", path.stem)
    assert added == [expected]
    assert all(sys.modules[module] is loaded for module, loaded in before.items())
    del sys.modules[expected]


def test_an_unknown_option_is_a_usage_error(target: Path) -> None:
    done = run("explain", f"{target}:single", "--wrong")
    assert done.returncode == 2
    assert "No such option" in done.stderr


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("blocked/r.html", "blocked/r.html cannot be written"),
        ("blocked/folder/", "cannot be written"),
        ("r.xyz", "No renderer writes .xyz files. Use one of: .html"),
    ],
)
def test_an_output_is_checked_before_the_work(target: Path, output: str, message: str) -> None:
    (target.parent / "blocked").write_text("")
    done = run("explain", "program.py:single", "-o", output, cwd=target.parent)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_checking_an_output_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "old.html").write_text("kept")
    for name in ("old.html", "new.svg"):
        presenter.check_output(tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["old.html"]
    assert (tmp_path / "old.html").read_text() == "kept"


def test_an_unknown_inner_backend_is_wrong_usage(target: Path) -> None:
    done = run("explain", f"{target}:single", "--inner", "egaer")
    assert done.returncode == 2
    assert "There is no backend 'egaer'. Valid, nearest first: eager" in done.stderr


def test_doctor_lists_torch_and_probes() -> None:
    done = run("doctor")
    assert "structured trace logger" in done.stdout
    assert "registered with torch by name" in done.stdout
    assert "missing" not in done.stdout, done.stdout
    assert done.returncode == 0


def test_a_missing_compiler_is_one_sentence(tmp_path: Path) -> None:
    program = (
        "import sys; from graphlens.cli.main import main\n"
        "main(['demo', '-o', sys.argv[1]])\n"
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "out")],
        capture_output=True, text=True, check=False,
        env={**__import__("os").environ, "CXX": "/no/such/compiler"},
    )  # fmt: skip
    assert done.returncode == 2
    assert "Inductor found no C++ compiler" in done.stderr
    assert "apt-get install g++" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_demo_writes_its_report(tmp_path: Path) -> None:
    done = run("demo", "--inner", "aot_eager", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = graphlens.load(tmp_path / "graphlens-out" / "report.json")
    assert [g.stage for g in report.graphs] == ["dynamo", "forward", "backward"]
    for name in ("report.html", "report.svg"):
        assert (tmp_path / "graphlens-out" / name).stat().st_size > 1000
