"""Small programs of our own: what the report says of each is what torch's own log says.

``own_cases`` holds them in the form of the case programs. ``EXPECT`` was measured with torch
itself by ``tools/measure_own_case.py``, so these tests need nothing beside the checkout.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from casework import launch, results

CASES = sorted(Path(__file__).with_name("own_cases").glob("*.py"))

pytestmark = pytest.mark.usefixtures("compiles")


@pytest.fixture(scope="module")
def launcher() -> Iterator[launch.Launcher]:
    with launch.Launcher(fork=True) as started:
        yield started


def test_there_are_many() -> None:
    assert len(CASES) >= 45


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_facts(launcher: launch.Launcher, case: Path) -> None:
    result = results.judge_facts(launcher, case, limit=100)
    if result["facts_missing"].startswith("needs "):
        pytest.skip(f"{case.stem} {result['facts_missing']}")
    assert result["facts"] == []
