"""Scripts that reproduce a divergence run by themselves, and show it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("compiles")

torch = pytest.importorskip("torch", reason="torch is not installed")

import graphlens
from faults.importable import SwappedSubtraction
from faults.passes import Injected, constant

TESTS = Path(__file__).parent
OPTION = "post_grad_custom_pre_pass"


def halved(gm, inputs):
    """A backend that is wrong where a value is above 20."""

    def run(*args):
        outputs = gm.forward(*args)
        return [torch.where(one > 20, one / 2, one) for one in outputs]

    return run


def subtracting(x, w):
    a = torch.sin(x) + 1
    b = a - x
    c = b @ w
    return torch.relu(c) + b


def compared(function, folder, *inputs, **options):
    return graphlens.compare(function, timing=False, repro=str(folder), **options)(*inputs)


def ran(script: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, env=environment
    )


def test_the_script_shows_the_difference(tmp_path: Path) -> None:
    report = compared(
        subtracting,
        tmp_path,
        torch.randn(8, 8),
        torch.randn(8, 8, requires_grad=True),
        options={OPTION: SwappedSubtraction()},
    )

    (script,) = tmp_path.iterdir()
    assert script.name == "graph_0_0.py"
    assert any(note.code == "repro" and str(script) in note.message for note in report.notes)
    text = script.read_text()
    assert "torch.sin" not in text, "only the operator"
    assert "torch.relu" not in text, "only the operator"
    assert "graphlens" not in text.replace("Written by graphlens", "")
    assert torch.__version__ in text
    done = ran(script)
    assert done.returncode == 1, done
    assert "output 0 DIFFERS" in done.stdout


def test_a_pass_that_cannot_be_imported_has_to_be_given(tmp_path: Path) -> None:
    mine = Injected("here", constant(torch.ops.aten.mul.Tensor, 2.0, 3.0), lambda _: True)

    def function(x):
        return (x * 2.0).sin()

    compared(function, tmp_path, torch.randn(4), options={OPTION: mine, "max_fusion_size": 8})

    (script,) = tmp_path.iterdir()
    assert f"# '{OPTION}': ...,  # give it: a Injected of faults.passes" in script.read_text()
    assert "'max_fusion_size': 8" in script.read_text()
    done = ran(script)
    assert done.returncode == 0, done
    assert f"Give what has no import path, then run this again: {OPTION}" in done.stdout


def test_inputs_are_stored_where_made_ones_do_not_diverge(tmp_path: Path) -> None:
    def function(x):
        return x.relu() * 0.5

    x = torch.zeros(3, 4).t()
    x[1, 2] = 90.0
    compared(function, tmp_path, x, inner=halved)

    script, data = tmp_path / "graph_0_0.py", tmp_path / "graph_0_0.pt"
    assert torch.equal(torch.load(data)["inputs"][0], x)
    done = ran(script)
    assert done.returncode == 1, done
    assert "from test_repro import halved" in script.read_text()


def test_what_a_graph_needs_is_in_the_script(tmp_path: Path) -> None:
    table = torch.arange(4.0) * 3

    def function(x, y):
        with torch.autocast("cpu", torch.bfloat16):
            a = x @ x
        b = torch.cond(y.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (y,))
        y.add_(1)
        with torch.no_grad():
            c = y * table
        return a, b, c * 100

    compared(function, tmp_path, torch.randn(4, 4), torch.rand(4), inner=halved)

    script = next(tmp_path.glob("*.py"))
    done = ran(script)
    assert done.returncode == 1, done


def test_none_is_written_where_nothing_diverges(tmp_path: Path) -> None:
    report = compared(subtracting, tmp_path, torch.randn(8, 8), torch.randn(8, 8), inner="eager")

    assert not list(tmp_path.iterdir())
    assert not report.notes
