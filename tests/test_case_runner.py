"""The case runner sees what it promises to see; else ``docs/cases.md`` would prove nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from casework import compare, launch

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def launcher() -> Iterator[launch.Launcher]:
    with launch.Launcher(fork=True) as started:
        yield started


def outcome(launcher: launch.Launcher, folder: Path, body: str, limit: int = 60) -> dict:
    """What a case does whose function has this body."""
    case = folder / "small_case.py"
    case.write_text(
        "import os, random, sys, time, torch\n\ndef fn(x):\n"
        + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
        + "\ndef make():\n    return fn, [(torch.tensor([1.0, float('nan'), 0.0]),)]\n"
    )
    return launcher.run(case, "eager", {}, limit)


@pytest.mark.parametrize(
    ("body", "other", "place"),
    [
        ("return x + 1", "return x + 2", "call 0 out"),
        ("return x * 1", "return x * -1 * -1 * 1.0000001", "call 0 out"),
        ("return x * 0", "return x * -0.0", "call 0 out"),
        ("return x + 1", "return (x + 1).double()", "call 0 out"),
        ("return x.expand(2, 3)", "return x.expand(2, 3).contiguous()", "call 0 out"),
        ("return [x]", "return (x,)", "call 0 type of the output"),
        ("return x + 1", "x.add_(1); return x + 0", "call 0 arg0"),
        ("return x + 1", "random.random(); return x + 1", "call 0 python's random state"),
        ("return x + 1", "torch.rand(1); return x + 1", "call 0 torch's random state"),
        ("return x + 1", "print('more'); return x + 1", "printed"),
        ("return x + 1", "open('left', 'w').close(); return x + 1", "files written"),
        ("raise KeyError('a')", "raise KeyError('b')", "call 0 raised"),
        ("raise KeyError('a')", "raise ValueError('a')", "call 0 raised"),
    ],
)
def test_a_difference_is_seen(
    launcher: launch.Launcher, tmp_path: Path, body: str, other: str, place: str
) -> None:
    reference = outcome(launcher, tmp_path, body)
    assert compare.differences(reference, outcome(launcher, tmp_path, body)) == []
    found = compare.differences(reference, outcome(launcher, tmp_path, other))
    assert any(text.startswith(place + ": ") for text in found), found
    assert compare.verdict(reference, outcome(launcher, tmp_path, other)).startswith("differs")


def test_any_nan_equals_any_nan(launcher: launch.Launcher, tmp_path: Path) -> None:
    plain = outcome(launcher, tmp_path, "return x")
    negative = outcome(
        launcher, tmp_path, "return torch.where(x.isnan(), torch.tensor(float('-nan')), x)"
    )
    assert plain["calls"][0]["values"]["out"] == negative["calls"][0]["values"]["out"]


def test_a_crash_is_an_outcome_and_the_next_run_works(
    launcher: launch.Launcher, tmp_path: Path
) -> None:
    crash = outcome(launcher, tmp_path, "os.abort()")
    assert crash["ended"] == "crash (SIGABRT)"
    assert compare.verdict(crash, crash) == "same, ended: crash (SIGABRT)"
    assert outcome(launcher, tmp_path, "return x")["ended"] == ""


def test_a_run_past_its_limit_is_ended(launcher: launch.Launcher, tmp_path: Path) -> None:
    assert outcome(launcher, tmp_path, "time.sleep(60)", limit=2)["ended"] == "no result after 2 s"


def test_a_missing_package_is_skipped(launcher: launch.Launcher, tmp_path: Path) -> None:
    case = tmp_path / "needy.py"
    case.write_text("import no_such_package\n")
    missing = launcher.run(case, "eager", {})
    assert compare.verdict(missing, missing) == "skipped: needs no_such_package"
