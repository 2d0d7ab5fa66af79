"""Small programs of our own: the class of cause of each broken line is the one in ``EXPECT``."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from casework import launch, results

CASES = sorted(Path(__file__).with_name("own_cases").glob("*.py"))

pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(scope="module")
def launcher() -> Iterator[launch.Launcher]:
    with launch.Launcher(fork=True) as started:
        yield started


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_causes(launcher: launch.Launcher, case: Path) -> None:
    result = results.judge_facts(launcher, case, limit=100)
    if result["facts_missing"].startswith("needs "):
        pytest.skip(f"{case.stem} {result['facts_missing']}")
    assert result["causes"] == []
