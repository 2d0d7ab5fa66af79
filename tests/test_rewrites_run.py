"""Rewrites as programs: they compute what the original does, and compile without its break."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphlens.analysis.rewrites import rewrites

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.usefixtures("compiles")

BRANCH = "data_dependent_branch"
NUMBER = "tensor_to_python_number"
SHAPE = "data_dependent_output_shape"
UP = torch.linspace(0.1, 2.0, 6).reshape(2, 3)
MIXED = torch.tensor([[-1.0, 2.0, 0.5], [0.25, -3.0, 1.0]])

# Name, cause, program, which of what is offered, arguments of each call.
PROGRAMS = [
    (
        "where",
        BRANCH,
        """
        def f(x, bias):
            scaled = torch.tanh(x) * 3.0
            if scaled.mean() > 0:  #<
                out = scaled + bias
            else:
                out = scaled - bias
            return out.relu()
        """,
        0,
        [(UP, MIXED), (-UP, MIXED)],
    ),
    (
        "one_side",
        BRANCH,
        """
        def f(x):
            y = x * 2
            if y.norm() > 4:  #<
                y *= x.abs() + 1
            return y
        """,
        0,
        [(UP,), (UP * 9,)],
    ),
    (
        "several_names",
        BRANCH,
        """
        def f(x):
            if not x.sum() > 0 or x.max() > 1.5:  #<
                a = x.sin()
                b = a + 1
            else:
                a = x.cos()
                b = a * 2
            return a - b, a
        """,
        0,
        [(UP,), (-UP,), (UP / 9,)],
    ),
    (
        "elif",
        BRANCH,
        """
        def f(x):
            if x.sum() > 3:  #<
                return x.exp()
            elif 0 < x.sum() <= 3:
                return x * 2
            else:
                return -x
        """,
        0,
        [(UP,), (UP / 9,), (-UP,)],
    ),
    (
        "expression_of_numbers",
        BRANCH,
        """
        def f(x):
            scale = 0.5 if x.any() else 2.0  #<
            return x.cos() * scale
        """,
        0,
        [(UP,), (UP * 0,)],
    ),
    (
        "cond",
        BRANCH,
        """
        def warm(x):
            return x.sin()

        def cold(x):
            return x.cos()

        def f(x):
            if x.sum() > 0:  #<
                return warm(x)
            return cold(x)
        """,
        1,
        [(UP,), (-UP,)],
    ),
    (
        "check",
        BRANCH,
        """
        def f(x):
            if x.isnan().any():  #<
                raise ValueError("nan")
            return x + 1
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "check_as_an_assertion",
        BRANCH,
        """
        def f(x):
            if x.isnan().any():  #<
                raise ValueError("nan")
            return x + 1
        """,
        1,
        [(UP,), (MIXED,)],
    ),
    (
        "print",
        "print_call",
        """
        def f(x):
            for turn in range(2):
                x = x * 0.5
                print("turn", turn,
                      f"{x.norm():.2f}")  #<
            return x
        """,
        0,
        [(UP,)],
    ),
    (
        "warn",
        "warnings_call",
        """
        import warnings

        def f(x):
            if x.shape[0] == 2: warnings.warn(str(x.sum()))  #<
            return x.exp()
        """,
        0,
        [(UP,)],
    ),
    (
        "item",
        NUMBER,
        """
        def f(x):
            top = x.abs().max().item()  #<
            return x / (top + 1e-3)
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "item_that_decides",
        NUMBER,
        """
        def f(x):
            top = x.abs().max().item()  #<
            if top > 2.5:
                x = x / top
            return x.cos()
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "float_of_a_count",
        NUMBER,
        """
        def f(x):
            return x.sum() / float((x > 0).sum())  #<
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "masked_mean",
        SHAPE,
        """
        def f(x):
            keep = x > 0
            return x[keep].square().mean()  #<
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "masked_loss",
        SHAPE,
        """
        def f(pred, target):
            mask = target > 0.3
            a = pred[mask]  #<
            b = target[mask]
            return ((a - b) ** 2).mean() + a.sum()
        """,
        0,
        [(UP, MIXED), (MIXED, UP)],
    ),
    (
        "rows",
        SHAPE,
        """
        def f(x):
            score = x.sum(-1)
            picked = x[score > 0]  #<
            return picked.exp().mean(0)
        """,
        0,
        [(UP,), (MIXED,), (UP.reshape(1, 2, 3),)],
    ),
    (
        "masked_write",
        SHAPE,
        """
        def f(x):
            y = x * 1
            y[y > 0.5] *= 2  #<
            return y
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "count",
        SHAPE,
        """
        def f(x):
            return x.sum() / len(x[x > 0]) + x.sum() * 2  #<
        """,
        0,
        [(UP,), (MIXED,)],
    ),
    (
        "twins",
        "autograd_function",
        """
        class Blend(torch.autograd.Function):
            @staticmethod
            def forward(ctx, p, q):
                ctx.save_for_backward(p, q)
                return p * q + q

            @staticmethod
            def backward(ctx, g):
                p, q = ctx.saved_tensors
                return g * q, g * (p + 1)

        def f(x):
            return Blend.apply(x, x)  #<
        """,
        0,
        [(UP,)],
    ),
    (
        "clock",
        "untraceable_builtin",
        """
        import time

        def f(x):
            start = time.perf_counter()  #<
            y = x.cos()
            print(time.perf_counter() - start)
            return y
        """,
        0,
        [(UP,)],
    ),
]


@pytest.mark.parametrize(
    ("cause", "text", "which", "calls"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS]
)
@pytest.mark.filterwarnings("ignore")
def test_means_the_same_and_compiles(
    cause: str, text: str, which: int, calls: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    original = "import torch\n" + textwrap.dedent(text)
    line = next(n for n, code in enumerate(original.splitlines(), 1) if code.endswith("  #<"))
    original = original.replace("  #<", "")
    rewritten = rewrites(original, "model.py", line, cause)[which].source
    before, after = (
        loaded(original, tmp_path / "before.py"),
        loaded(rewritten, tmp_path / "after.py"),
    )
    for arguments in calls:
        torch.testing.assert_close(result(after, arguments), result(before, arguments))
    if cause == "autograd_function" and torch.__version__ < (2, 13):
        pytest.skip("torch before 2.13 traces the call without a break")
    assert captured(before, calls[0]) != (1, 0), "the original has no break, and shows nothing"
    assert captured(after, calls[0]) == (1, 0)
    whole = torch.compile(after, backend="eager", fullgraph=True)
    for arguments in calls:
        torch.testing.assert_close(result(whole, arguments), result(before, arguments))


def test_the_loop_that_stacks() -> None:
    """Torch unrolls such a loop without a break: there only the result is to be seen."""
    text = (
        "import torch\ndef f(xs: torch.Tensor):\n    out = []\n    for v in xs:\n"
        "        out.append(v.sin() * 2)\n    return torch.stack(out)\n"
    )
    (found,) = rewrites(text, "model.py", 5, "container_length")
    spaces: list[dict[str, Any]] = [{}, {}]
    for space, source in zip(spaces, (text, found.source), strict=True):
        exec(source, space)
    torch.testing.assert_close(spaces[1]["f"](MIXED), spaces[0]["f"](MIXED))


def test_an_assertion_is_still_checked_when_compiled() -> None:
    text = (
        "import torch\ndef f(x):\n    if x.isnan().any():\n"
        "        raise ValueError('nan')\n    return x + 1\n"
    )
    space: dict[str, Any] = {}
    exec(rewrites(text, "model.py", 3, BRANCH)[1].source, space)
    whole = torch.compile(space["f"], backend="eager", fullgraph=True)
    torch.testing.assert_close(whole(UP), UP + 1)
    with pytest.raises(RuntimeError, match="nan"):
        whole(UP * float("nan"))
    with pytest.raises(AssertionError, match="nan"):
        space["f"](UP * float("nan"))


def loaded(source: str, path: Path) -> Callable[..., Any]:
    path.write_text(source)
    space: dict[str, Any] = {"__name__": path.stem}
    exec(compile(source, str(path), "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function


def result(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What it returns, with the gradients where there are any."""
    given = [argument.clone().requires_grad_() for argument in arguments]
    out = function(*given)
    outs = out if isinstance(out, tuple) else (out,)
    sum(each.sum() for each in outs).backward()
    return [each.detach() for each in outs], [argument.grad for argument in given]


def captured(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, int]:
    """How many graphs a call gives, and how many breaks torch has counted."""
    from torch._dynamo.utils import counters

    graphs: list[Any] = []

    def keep(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    torch._dynamo.reset()
    counters.clear()
    torch.compile(function, backend=keep)(*(a.clone().requires_grad_() for a in arguments))
    breaks = len(counters["graph_break"])
    counters.clear()
    torch._dynamo.reset()
    return len(graphs), breaks
