"""``graphlens.record()``: its options, and the folder a process writes to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.capture.process import process_folder
from graphlens.errors import OutputError, UsageError

pytestmark = pytest.mark.usefixtures("compiles")


@pytest.fixture(autouse=True)
def no_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("option", ["show", "inner", "rows", "outt"])
def test_options_it_would_ignore_are_refused(option: str) -> None:
    with pytest.raises(UsageError, match=rf"no option '{option}'\. It has: out\."):
        graphlens.record(**{option: "none"})


def test_out_is_written_when_the_block_ends_wherever_the_program_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with graphlens.record(out=Path("made")):
        monkeypatch.chdir("elsewhere")
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    assert len(graphlens.load(tmp_path / "made").graphs) == 1
    assert os.listdir(".") == []


def test_a_folder_asked_for_twice_is_the_same(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert process_folder(str(out)) == process_folder(f"{out}/") == str(out)
    assert os.listdir(out) == []


def test_ranks_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    assert process_folder(str(tmp_path)) == str(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert process_folder(str(tmp_path)) == str(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert process_folder(str(tmp_path)) == str(tmp_path / "rank3")


def test_a_folder_that_a_live_process_has_is_left_to_it(tmp_path: Path) -> None:
    hold = (
        "import fcntl, os, sys\n"
        "fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    out, freed = tmp_path / "out", tmp_path / "freed"
    for folder in (out, freed):
        folder.mkdir()
        other = subprocess.Popen(
            [sys.executable, "-c", hold, folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert other.stdout.readline() == "held\n"
        if folder == out:
            assert process_folder(str(out)) == str(out / f"process-{os.getpid()}")
        other.communicate()
    assert process_folder(str(freed)) == str(freed)


def test_an_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        process_folder(str(tmp_path / "file"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_do_not_overwrite_each_other_or_their_parent(tmp_path: Path, method: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, sys, torch\n"
        "def work(steps, barrier=None):\n"
        "    def chain(x):\n"
        "        for _ in range(steps): x = x.cos()\n"
        "        return x\n"
        "    torch.compile(chain, backend='graphlens_eager')(torch.ones(2))\n"
        "    if barrier: barrier.wait(60)\n"  # both are alive together
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context(sys.argv[1])\n"
        "    if sys.argv[1] == 'fork': work(1)\n"
        "    barrier = context.Barrier(2)\n"
        "    children = [context.Process(target=work, args=(n, barrier)) for n in (2, 3)]\n"
        "    for child in children: child.start()\n"
        "    for child in children: child.join()\n"
        "    sys.exit(max(child.exitcode for child in children))\n"
    )
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, program, method], capture_output=True, text=True, check=False,
        env={**os.environ, "GRAPHLENS_OUT": str(out), "GRAPHLENS_SHOW": "summary"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reports = {p.parent: graphlens.load(p) for p in out.rglob("report.json")}
    found = sorted(len(r.graphs[-1].nodes) - 2 for r in reports.values())
    assert found == ([1, 2, 3] if method == "fork" else [2, 3])
    for folder in reports:
        assert folder == out or folder.name.startswith("process-")
        assert f"Full report: {folder}/report.html" in done.stdout
