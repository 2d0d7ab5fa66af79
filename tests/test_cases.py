"""The case programs: graphlens gives what the backend inside it gives, bit for bit.

All of them with ``eager`` inside; ten under Inductor, chosen to cover training, dynamic shapes,
breaks, exceptions, mutation, threads, random numbers and the recompile limit. The rest under
Inductor is ``make cases``. Each run is a process of its own, forked from one that has imported
torch; ``tools/casework`` says what is compared.

And what the report says of each is what torch's own log said when the case was measured. What
``graphlens.compare`` says of a dozen is what was measured, in the terms of the cases' notes.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from casework import compare, launch, results

CASES = sorted(launch.cases_folder().glob("*.py"))
UNDER_INDUCTOR = (
    "autograd_function_twice",
    "batch_size_changes",
    "batchnorm_switch",
    "checkpoint_with_print",
    "data_dependent_branch",
    "dropout_mask_differs",
    "inputs_become_aliases",
    "layer_index_limit",
    "raise_in_forward",
    "threads_share_function",
)
# Quick ones, for each origin and verdict; the rest is ``make cases``.
COMPARED = (
    "autograd_function_twice",
    "bf16_tie_count",
    "double_backward",
    "dropout_mask_differs",
    "except_index_error",
    "func_grad_custom_backward",
    "hook_added_late",
    "identity_of_objects",
    "ill_conditioned",
    "inputs_become_aliases",
    "lru_cache_helper",
    "numpy_random_inside",
    "scalar_cumsum",
    "transposed_strides",
    "uint8_negation",
)
ABSENT = f"no case programs in {launch.cases_folder()}; set GRAPHLENS_CASES to their folder"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CASES, reason=ABSENT)]


@pytest.fixture(scope="module")
def launcher() -> Iterator[launch.Launcher]:
    with launch.Launcher(fork=True) as started:
        yield started


def assert_same(launcher: launch.Launcher, case: Path, inner: str) -> None:
    result = results.judge(launcher, case, inner, limit=400)
    if result["verdict"].startswith("skipped"):
        pytest.skip(f"{case.stem} {result['verdict'].removeprefix('skipped: ')}")
    assert compare.agrees(result["verdict"]), "\n".join([result["verdict"], *result["differences"]])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_same_outcome_with_eager_inside(launcher: launch.Launcher, case: Path) -> None:
    assert_same(launcher, case, "eager")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_report_says_what_torch_says(launcher: launch.Launcher, case: Path) -> None:
    result = results.judge_facts(launcher, case, limit=400)
    if result["facts_missing"].startswith("needs "):
        pytest.skip(f"{case.stem} {result['facts_missing']}")
    assert result["facts"] == []


@pytest.mark.parametrize("name", UNDER_INDUCTOR)
def test_same_outcome_as_inductor(launcher: launch.Launcher, name: str) -> None:
    assert_same(launcher, launch.cases_folder() / f"{name}.py", "inductor")


@pytest.mark.parametrize("name", COMPARED)
def test_the_comparison_with_eager_says_what_was_measured(
    launcher: launch.Launcher, name: str
) -> None:
    case = launch.cases_folder() / f"{name}.py"
    result = results.judge_comparison(launcher, case, "inductor", limit=400)
    assert result["inconsistent"] == []


def test_the_comparison_sees_another_random_mask(launcher: launch.Launcher) -> None:
    """Inductor draws another dropout mask than eager: a comparison that misses it is worthless."""
    case = launch.cases_folder() / "dropout_mask_differs.py"
    eager, inductor = (launcher.run(case, backend, {}) for backend in ("eager", "inductor"))
    found = compare.differences(eager, inductor)
    assert any(text.startswith("call 0 out: ") for text in found)
    assert not any(text.startswith("call 1 ") for text in found)
