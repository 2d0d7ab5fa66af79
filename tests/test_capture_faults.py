"""Why a captured program disagrees with eager: each reason, and none where it is not the one."""

import functools
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from graphlens.checks.compare import compare_calls
from graphlens.checks.compare_options import CompareOptions
from graphlens.checks.handlers import handler_of
from graphlens.checks.left_out import CacheUse, name_of, plain_functions, uncached
from graphlens.model import Accuracy


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (IndexError(), 4),
        (KeyError(), 6),
        (ValueError(), 6),
        (OSError(), 11),
        (KeyboardInterrupt(), None),
    ],
)
def test_the_innermost_handler_that_takes_an_error(
    tmp_path: Path, raised: BaseException, line: int | None
) -> None:
    file = tmp_path / "handlers.py"
    file.write_text(
        textwrap.dedent("""\
            try:
                try:
                    work()
                except IndexError:
                    pass
                except (ValueError, builtins.LookupError):
                    pass
                finally:
                    try: other()
                    except OSError: pass
            except Exception:
                pass
        """)
    )
    assert handler_of(str(file), 3, raised) == line


@pytest.mark.parametrize("text", ["work()", "try:\n    work()\nfinally:\n    pass", "not python("])
def test_no_handler(tmp_path: Path, text: str) -> None:
    file = tmp_path / "none.py"
    file.write_text(text)
    assert handler_of(str(file), 2, IndexError()) is None
    assert handler_of(str(tmp_path / "absent.py"), 1, IndexError()) is None


class Old(torch.autograd.Function):
    """In the style with one ``ctx`` for both."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.power = 3
        return x.square()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 100


def gradient_of(function: Callable[[torch.Tensor], torch.Tensor]) -> float:
    x = torch.tensor(3.0, requires_grad=True)
    function(x).backward()
    assert x.grad is not None
    return x.grad.item()


def test_custom_backwards_are_left_out_for_the_time_of_a_block() -> None:
    before = Old.apply
    with plain_functions() as used:
        assert gradient_of(Old.apply) == 6
    assert used == ["Old"]
    assert gradient_of(Old.apply) == 100 == gradient_of(before)
    assert "apply" not in vars(Old)


@functools.lru_cache
def squared(n: int) -> int:
    return n * n


def test_values_taken_from_a_cache_are_noticed() -> None:
    squared.cache_clear()
    use = CacheUse()
    call = use.noticing(squared)
    call(2)
    assert (use.hits, len(use.calls)) == ({}, 1)
    call(2)
    assert list(use.hits.values()) == [squared]
    assert name_of(squared).startswith("`squared` (line ")


class Holder:
    runs = 0

    @functools.lru_cache  # noqa: B019
    def cached(self) -> int:
        self.runs += 1
        return self.runs


def test_caches_are_left_out_for_the_time_of_a_block() -> None:
    holder = Holder()
    kept = vars(Holder)["cached"]
    with uncached([kept]):
        assert [holder.cached(), holder.cached()] == [1, 2]
        Holder.cached.cache_clear()
    assert vars(Holder)["cached"] is kept
    assert [holder.cached(), holder.cached()] == [3, 3]


def reason_of(function: Callable[..., Any], *calls: Any) -> tuple[str, str]:
    """Verdict and reason of a program that is compiled with nothing but capture."""
    options = CompareOptions(inner="eager", timing=False)
    report = compare_calls(function, [(one, {}) for one in calls], options)
    assert isinstance(report.accuracy, Accuracy)
    assert report.accuracy.origin in ("", "capture")
    return report.accuracy.verdict, report.accuracy.reason


counted = 0


@functools.lru_cache
def count(n: int) -> int:
    global counted
    counted += 1
    return n + counted


@pytest.mark.usefixtures("compiles")
@pytest.mark.filterwarnings("ignore:[\\s\\S]*lru_cache")
def test_a_cache_is_named_only_where_capture_ignores_it() -> None:
    x = torch.zeros(2)
    verdict, reason = reason_of(lambda x: x + count(3), (x,), (x,))
    assert verdict == "diverges"
    assert "functools.lru_cache of `count`" in reason

    def other_value(x: torch.Tensor) -> torch.Tensor:
        return x + squared(3) + int(torch.compiler.is_compiling())

    verdict, reason = reason_of(other_value, (x,), (x,))
    assert verdict == "diverges"
    assert "lru_cache" not in reason


@pytest.mark.usefixtures("compiles")
def test_an_error_that_only_capture_raises_and_no_handler_takes() -> None:
    def works(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if not torch.compiler.is_compiling() else x.view(7)

    verdict, reason = reason_of(works, (torch.zeros(2),))
    assert verdict == "diverges"
    assert reason.startswith("the program as Dynamo captured it gives it too: call 0, the call")
