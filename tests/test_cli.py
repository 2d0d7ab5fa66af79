"""The command line, by entry point and as a module: output, exit codes, errors without traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import graphlens

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
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(TARGETS)
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
        ("program.py:fails", 3, "raised KeyError: 'mine'"),
    ],
)
def test_mistakes_are_one_message(target: Path, target_text: str, code: int, message: str) -> None:
    done = run("explain", target_text, cwd=target.parent)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("graphlens: ")


def test_traceback_on_request(target: Path) -> None:
    done = run("--traceback", "explain", f"{target}:broken")
    assert "Traceback" in done.stderr
    assert "no data here" in done.stderr


def test_an_unknown_option_is_a_usage_error(target: Path) -> None:
    done = run("explain", f"{target}:single", "--wrong")
    assert done.returncode == 2
    assert "No such option" in done.stderr


def test_an_unwritable_output(target: Path, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("")
    done = run("explain", f"{target}:single", "-o", tmp_path / "blocked" / "r.html")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


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
