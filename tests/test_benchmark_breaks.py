"""The arithmetic and the tables of the benchmark of breaks."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.insert(0, str(FOLDER))

import breaks


def test_a_section_takes_the_place_of_the_last_one_and_leaves_the_rest() -> None:
    first = breaks.with_section("# Title\n", "one")
    again = breaks.with_section(f"{first}\n## After\n", r"two \1")
    assert again.startswith("# Title\n")
    assert again.endswith("\n## After\n")
    assert "one" not in again
    assert r"two \1" in again
    assert again.count(breaks.BEGIN) == again.count(breaks.END) == 1


def test_torch_is_right_by_breaks_and_graphlens_by_lines() -> None:
    wanted = {"lines": 2, "records": 5}
    assert breaks.is_right({"breaks": 2, "reasons": 1}, wanted, "torch")
    assert not breaks.is_right({"breaks": 2, "lines": 1}, wanted, "explain")
    assert not breaks.is_right({"ended": "raises IndexError"}, wanted, "torch")


def test_work_in_a_process_of_its_own_gives_its_answer_or_how_it_ended() -> None:
    assert breaks.in_own_process(dict, (("x", 1),)) == {"x": 1}
    assert breaks.in_own_process(sys.exit, 3) == {"ended": "exit code 3"}
