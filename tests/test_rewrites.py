"""Rewrites as text: what is offered, what is refused, and that the rest of a file stays as it is."""

import ast
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlens.analysis.rewrites import Rewrite, rewrites

BRANCH = "data_dependent_branch"
NUMBER = "tensor_to_python_number"
SHAPE = "data_dependent_output_shape"
HEAD = "import torch\n\n\n"
MARK = "  #<"


def offered(text: str, cause: str) -> tuple[str, tuple[Rewrite, ...]]:
    """The text without its mark, and what is offered for the line that has it."""
    lines = text.splitlines()
    line = next(number for number, code in enumerate(lines, 1) if code.endswith(MARK))
    source = text.replace(MARK, "")
    return source, rewrites(source, "pkg/model.py", line, cause)


def code(text: str, head: str = HEAD) -> str:
    return head + textwrap.dedent(text).lstrip("\n")


OFFERED = [
    # --- branches
    (
        "two_sides",
        BRANCH,
        """
        def f(x, bias):
            if x.mean() > 0:  #<
                out = x + bias
            else:
                out = x - bias
            return out
        """,
        """
        def f(x, bias):
            out = torch.where(x.mean() > 0, x + bias, x - bias)
            return out
        """,
    ),
    (
        "one_side",
        BRANCH,
        """
        def f(x):
            if x.sum() > 3:  #<
                x = x * 2
            return x
        """,
        """
        def f(x):
            x = torch.where(x.sum() > 3, x * 2, x)
            return x
        """,
    ),
    (
        "a_parameter_that_is_none_by_default",
        BRANCH,
        """
        def f(x, bias=None):
            y = x + bias if x.sum() > 0 else x - bias  #<
            return y
        """,
        """
        def f(x, bias=None):
            y = torch.where(x.sum() > 0, x + bias, x - bias)
            return y
        """,
    ),
    (
        "only_the_other_side",
        BRANCH,
        """
        def f(x):
            if x.sum() > 3:  #<
                pass
            else:
                x = x * 2
            return x
        """,
        """
        def f(x):
            x = torch.where(x.sum() > 3, x, x * 2)
            return x
        """,
    ),
    (
        "return_on_both_sides",
        BRANCH,
        """
        def f(x, a, b):
            if (x > 0).all():  #<
                return a
            else:
                return b
        """,
        """
        def f(x, a, b):
            return torch.where((x > 0).all(), a, b)
        """,
    ),
    (
        "return_then_return",
        BRANCH,
        """
        def f(x):
            if x.norm() > 1:  #<
                return x.tanh()
            # small enough
            return x.relu()
        """,
        """
        def f(x):
            # small enough
            return torch.where(x.norm() > 1, x.tanh(), x.relu())
        """,
    ),
    (
        "on_one_line",
        BRANCH,
        """
        def f(x):
            if x.sum() > 0: return x.exp()  #<
            return x.cos()
        """,
        """
        def f(x):
            return torch.where(x.sum() > 0, x.exp(), x.cos())
        """,
    ),
    (
        "expression",
        BRANCH,
        """
        def f(x, y):
            z = 2 * (x if y.sum() > 0 else -x)  # note  #<
            return z
        """,
        """
        def f(x, y):
            z = 2 * (torch.where(y.sum() > 0, x, -x))  # note
            return z
        """,
    ),
    (
        "expression_over_lines",
        BRANCH,
        """
        def f(x, y):
            return (
                x.exp()
                if y.sum() > 0  #<
                else x.cos()
            )
        """,
        """
        def f(x, y):
            return (
                torch.where(y.sum() > 0, x.exp(), x.cos())
            )
        """,
    ),
    (
        "expression_of_numbers_for_arithmetic",
        BRANCH,
        """
        def f(x):
            scale = 0.5 if x.mean() > 0 else 2.0  #<
            return x.cos() * scale
        """,
        """
        def f(x):
            scale = torch.where(x.mean() > 0, 0.5, 2.0)
            return x.cos() * scale
        """,
    ),
    (
        "lambda",
        BRANCH,
        """
        gate = lambda x: x.sin() if x.sum() > 0 else x.cos()  #<
        """,
        """
        gate = lambda x: torch.where(x.sum() > 0, x.sin(), x.cos())
        """,
    ),
    (
        "several_names",
        BRANCH,
        """
        def f(x):
            if x.sum() > 0:  #<
                a = x.sin()
                b = a + 1
            else:
                a = x.cos()
                b = a - 1
            return a * b
        """,
        """
        def f(x):
            condition = x.sum() > 0
            a = torch.where(condition, x.sin(), x.cos())
            b = torch.where(condition, a + 1, a - 1)
            return a * b
        """,
    ),
    (
        "several_names_and_a_condition_with_one",
        BRANCH,
        """
        def f(x, condition):
            positive = x.sum() > 0
            if positive:  #<
                a, b = x.sin(), x
            else:
                a, b = x, x.cos()
            return a * b
        """,
        """
        def f(x, condition):
            positive = x.sum() > 0
            a, b = torch.where(positive, x.sin(), x), torch.where(positive, x, x.cos())
            return a * b
        """,
    ),
    (
        "a_free_name_for_the_condition",
        BRANCH,
        """
        def f(x, condition):
            if x.sum() > 0:  #<
                return x.sin(), condition
            return x, condition + 1
        """,
        """
        def f(x, condition):
            condition_ = x.sum() > 0
            return torch.where(condition_, x.sin(), x), torch.where(condition_, condition, condition + 1)
        """,
    ),
    (
        "augmented",
        BRANCH,
        """
        def f(x, a):
            y = x * 2
            if a.sum() > 0:  #<
                y *= a + 1
            return y
        """,
        """
        def f(x, a):
            y = x * 2
            y = torch.where(a.sum() > 0, y * (a + 1), y)
            return y
        """,
    ),
    (
        "augmented_on_both_sides",
        BRANCH,
        """
        def f(x, a):
            y = x.exp()
            if a.sum() > 0:  #<
                y += a
            else:
                y -= a
            return y
        """,
        """
        def f(x, a):
            y = x.exp()
            y = torch.where(a.sum() > 0, y + a, y - a)
            return y
        """,
    ),
    (
        "not",
        BRANCH,
        """
        def f(x):
            if not (x > 0).any():  #<
                x = x + 1
            return x
        """,
        """
        def f(x):
            x = torch.where(torch.logical_not((x > 0).any()), x + 1, x)
            return x
        """,
    ),
    (
        "and",
        BRANCH,
        """
        def f(x, y):
            if x.sum() > 0 and y.sum() > 0 and not y.mean() > 5:  #<
                x = x + y
            return x
        """,
        """
        def f(x, y):
            x = torch.where(
                torch.logical_and(torch.logical_and(x.sum() > 0, y.sum() > 0), torch.logical_not(y.mean() > 5)),
                x + y,
                x,
            )
            return x
        """,
    ),
    (
        "or_of_calls",
        BRANCH,
        """
        def f(x, y):
            if x.isnan().any() or torch.isinf(y).any():  #<
                x = y.cos()
            return x
        """,
        """
        def f(x, y):
            x = torch.where(torch.logical_or(x.isnan().any(), torch.isinf(y).any()), y.cos(), x)
            return x
        """,
    ),
    (
        "chain",
        BRANCH,
        """
        def f(x):
            if 0 < x.sum() <= 4:  #<
                x = x + 1
            return x
        """,
        """
        def f(x):
            x = torch.where(torch.logical_and(0 < x.sum(), x.sum() <= 4), x + 1, x)
            return x
        """,
    ),
    (
        "truth_of_a_tensor_that_is_not_bool",
        BRANCH,
        """
        def f(x, on):
            if on:  #<
                x = x + 1
            return x
        """,
        """
        def f(x, on):
            x = torch.where(on != 0, x + 1, x)
            return x
        """,
    ),
    (
        "bool_and_item_in_the_condition",
        BRANCH,
        """
        def f(x):
            if bool(x.sum().item() > x.min().item() + 1):  #<
                x = x + 1
            return x
        """,
        """
        def f(x):
            x = torch.where(x.sum() > x.min() + 1, x + 1, x)
            return x
        """,
    ),
    (
        "elif",
        BRANCH,
        """
        def f(x, k):
            if k == 1:
                y = x
            elif x.sum() > 0:  #<
                y = x + 1
            else:
                y = x - 1
            return y
        """,
        """
        def f(x, k):
            if k == 1:
                y = x
            else:
                y = torch.where(x.sum() > 0, x + 1, x - 1)
            return y
        """,
    ),
    (
        "chain_of_elif",
        BRANCH,
        """
        def f(x):
            if x.sum() > 1:  #<
                y = x + 1
            elif x.sum() > 0:
                y = x
            else:
                y = x - 1
            return y
        """,
        """
        def f(x):
            y = torch.where(x.sum() > 1, x + 1, torch.where(x.sum() > 0, x, x - 1))
            return y
        """,
    ),
    (
        "comments_and_tabs_stay",
        BRANCH,
        """
        def f(x):
        \t# above
        \tif x.sum() > 0:  # warm
        \t\t# plus
        \t\ty = x + 1  #<
        \telse:
        \t\ty = (x  # kept
        \t\t     - 1)  # minus
        \treturn y
        """.replace("x.sum() > 0:  # warm", "x.sum() > 0:  #<").replace(
            "y = x + 1  #<", "y = x + 1"
        ),
        """
        def f(x):
        \t# above
        \t# plus
        \ty = torch.where(x.sum() > 0, x + 1, x  # kept
        \t\t     - 1)  # minus
        \treturn y
        """,
    ),
    (
        "in_a_loop_of_rows",
        BRANCH,
        """
        def f(rows):
            best = rows[0] * 1
            for row in rows:
                if row.sum() > best.sum():  #<
                    best = row
            return best
        """,
        """
        def f(rows):
            best = rows[0] * 1
            for row in rows:
                best = torch.where(row.sum() > best.sum(), row, best)
            return best
        """,
    ),
    # --- checks
    (
        "raise",
        BRANCH,
        """
        def f(x):
            if x.isnan().any():  #<
                raise ValueError("nan")
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling() and x.isnan().any():
                raise ValueError("nan")
            return x
        """,
    ),
    (
        "raise_or",
        BRANCH,
        """
        def f(x):
            if (x.isnan().any() or x.isinf().any()):  #<
                print("bad", x)
                raise ValueError(f"bad {x}")
            return x
        """,
        """
        def f(x):
            if (not torch.compiler.is_compiling() and (x.isnan().any() or x.isinf().any())):
                print("bad", x)
                raise ValueError(f"bad {x}")
            return x
        """,
    ),
    (
        "assert_not",
        BRANCH,
        """
        def f(x):
            assert not x.isnan().any(), "nan"  #<
            return x
        """,
        """
        def f(x):
            assert torch.logical_not(x.isnan().any()), "nan"
            return x
        """,
    ),
    (
        "assert_with_a_message_made_at_run_time",
        BRANCH,
        """
        def f(x):
            assert (
                x.sum() > 0
            ), f"sum is {x.sum()}"  #<
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                assert (
                    x.sum() > 0
                ), f"sum is {x.sum()}"
            return x
        """,
    ),
    (
        "assert_item",
        NUMBER,
        """
        def f(x):
            assert x.sum().item() > 0  #<
            return x
        """,
        """
        def f(x):
            assert x.sum() > 0
            return x
        """,
    ),
    # --- prints, logs, warnings
    (
        "print",
        "print_call",
        """
        def f(x):
            print("sum", x.sum().item())  # debug  #<
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                print("sum", x.sum().item())  # debug
            return x
        """,
    ),
    (
        "print_over_lines",
        "print_call",
        """
        def f(x):
          for i in range(3):
            print(
              "turn",
              # which

              i,  #<
            )
          return x
        """,
        """
        def f(x):
          for i in range(3):
            if not torch.compiler.is_compiling():
              print(
                "turn",
                # which

                i,
              )
          return x
        """,
    ),
    (
        "print_of_a_long_string",
        "print_call",
        '''
        def f(x):
            print("""first  #<
          second
            third""", f"""a
        {x.shape}
        """, end="")
            return x
        ''',
        '''
        def f(x):
            if not torch.compiler.is_compiling():
                print("""first
          second
            third""", f"""a
        {x.shape}
        """, end="")
            return x
        ''',
    ),
    (
        "print_with_tabs",
        "print_call",
        """
        def f(x):
        \tif x.dim() > 1:
        \t\tprint(x)  #<
        \treturn x
        """,
        """
        def f(x):
        \tif x.dim() > 1:
        \t\tif not torch.compiler.is_compiling():
        \t\t\tprint(x)
        \treturn x
        """,
    ),
    (
        "print_behind_its_condition",
        "print_call",
        """
        def f(x, verbose=False, loud=False):
            if verbose or loud: print(x)  #<
            return x
        """,
        """
        def f(x, verbose=False, loud=False):
            if not torch.compiler.is_compiling() and (verbose or loud): print(x)
            return x
        """,
    ),
    (
        "print_in_a_method",
        "print_call",
        """
        class M(torch.nn.Module):
            def forward(self, x):
                with torch.no_grad():
                    print(*[v.shape for v in x])  #<
                return x
        """,
        """
        class M(torch.nn.Module):
            def forward(self, x):
                with torch.no_grad():
                    if not torch.compiler.is_compiling():
                        print(*[v.shape for v in x])
                return x
        """,
    ),
    (
        "log",
        "logging_call",
        """
        def f(self, x):
            self.logger.info("shape %s", x.shape)  #<
            return x
        """,
        """
        def f(self, x):
            if not torch.compiler.is_compiling():
                self.logger.info("shape %s", x.shape)
            return x
        """,
    ),
    (
        "log_by_name",
        "logging_call",
        """
        def f(x):
            logging.getLogger(__name__).warning("late")  #<
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                logging.getLogger(__name__).warning("late")
            return x
        """,
    ),
    (
        "warn",
        "warnings_call",
        """
        def f(x):
            warnings.warn(  #<
                "slow path", stacklevel=2
            )
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                warnings.warn(
                    "slow path", stacklevel=2
                )
            return x
        """,
    ),
    (
        "print_for_its_number",
        NUMBER,
        """
        def f(x):
            print(f"sum {x.sum().item():.2f}")  #<
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                print(f"sum {x.sum().item():.2f}")
            return x
        """,
    ),
    (
        "call_without_use",
        "untraceable_builtin",
        """
        def f(x):
            time.sleep(0.1)  #<
            return x
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                time.sleep(0.1)
            return x
        """,
    ),
    (
        "clock",
        "untraceable_builtin",
        """
        def f(x):
            start = time.perf_counter()  #<
            y = x.cos()
            spent = time.perf_counter() - start
            print("took", spent)
            return y
        """,
        """
        def f(x):
            if not torch.compiler.is_compiling():
                start = time.perf_counter()
            y = x.cos()
            if not torch.compiler.is_compiling():
                spent = time.perf_counter() - start
                print("took", spent)
            return y
        """,
    ),
    # --- numbers
    (
        "item",
        NUMBER,
        """
        def f(x):
            top = x.abs().max().item()  #<
            return x / (top + 1e-3)
        """,
        """
        def f(x):
            top = x.abs().max().detach()
            return x / (top + 1e-3)
        """,
    ),
    (
        "item_inline",
        NUMBER,
        """
        def f(x, y):
            return x.cos() * y.max().item()  #<
        """,
        """
        def f(x, y):
            return x.cos() * y.max().detach()
        """,
    ),
    (
        "item_of_a_parameter_inline",
        NUMBER,
        """
        def f(x, s):
            y = x.cos() * s.item()  #<
            return y
        """,
        """
        def f(x, s):
            y = x.cos() * s.detach().reshape(())
            return y
        """,
    ),
    (
        "item_of_a_count",
        NUMBER,
        """
        def f(x):
            n = (x > 0).sum().item()  #<
            return x.sum() / n
        """,
        """
        def f(x):
            n = (x > 0).sum()
            return x.sum() / n
        """,
    ),
    (
        "item_of_what_may_be_written_to",
        NUMBER,
        """
        def f(self, x):
            old = self.scale.item()  #<
            self.scale.mul_(0.9)
            return x.cos() * old
        """,
        """
        def f(self, x):
            old = self.scale.detach().clone().reshape(())
            self.scale.mul_(0.9)
            return x.cos() * old
        """,
    ),
    (
        "item_through_names",
        NUMBER,
        """
        def f(x: torch.Tensor):
            low = x.min().detach().item(); high = x.max().item()
            return x
        """.replace(
            "; high = x.max().item()",
            "  #<\n            half = -low * 0.5\n            x = x + half",
        ),
        """
        def f(x: torch.Tensor):
            low = x.min().detach()
            half = -low * 0.5
            x = x + half
            return x
        """,
    ),
    (
        "two_items",
        NUMBER,
        """
        def f(x):
            width = x.max().item() - x.min().item()  #<
            return x.clamp(max=width) + torch.mul(x, width)
        """,
        """
        def f(x):
            width = x.max().detach() - x.min().detach()
            return x.clamp(max=width) + torch.mul(x, width)
        """,
    ),
    (
        "float",
        NUMBER,
        """
        def f(x):
            scale = float(x.mean())  #<
            return x.mul(scale)
        """,
        """
        def f(x):
            scale = x.mean().detach()
            return x.mul(scale)
        """,
    ),
    (
        "float_of_arithmetic_and_of_a_count",
        NUMBER,
        """
        def f(x):
            scale = float(x.mean() + 1) / float((x > 0).sum())  #<
            return x.cos() * scale
        """,
        """
        def f(x):
            scale = (x.mean() + 1).detach() / (x > 0).sum().float()
            return x.cos() * scale
        """,
    ),
    (
        "int_of_a_count",
        NUMBER,
        """
        def f(x):
            n = int(torch.count_nonzero(x))  #<
            return x.sum() / n
        """,
        """
        def f(x):
            n = torch.count_nonzero(x)
            return x.sum() / n
        """,
    ),
    (
        "item_that_decides",
        NUMBER,
        """
        def f(x):
            top = x.abs().max().item()  #<
            if top > 3.0:
                x = x / top
            return x.cos()
        """,
        """
        def f(x):
            top = x.abs().max().detach()
            x = torch.where(top > 3.0, x / top, x)
            return x.cos()
        """,
    ),
    (
        "item_in_a_condition",
        NUMBER,
        """
        def f(x, n):
            if n.item() > 2:  #<
                return x.sin()
            return x.cos()
        """,
        """
        def f(x, n):
            return torch.where(n.reshape(()) > 2, x.sin(), x.cos())
        """,
    ),
    # --- selections
    (
        "sum_of_selected",
        SHAPE,
        """
        def f(x):
            return x[x > 0].sum()  #<
        """,
        """
        def f(x):
            return torch.where(x > 0, x, 0).sum()
        """,
    ),
    (
        "mean_of_selected",
        SHAPE,
        """
        def f(x):
            mask = x > 0
            return 1 - x[mask].mean()  #<
        """,
        """
        def f(x):
            mask = x > 0
            return 1 - (torch.where(mask, x, 0).sum() / mask.sum())
        """,
    ),
    (
        "masked_loss",
        SHAPE,
        """
        def f(pred, target):
            mask = target != -1
            loss = (pred[mask] - target[mask]).pow(2).mean()  #<
            return loss
        """,
        """
        def f(pred, target):
            mask = target != -1
            loss = torch.where(mask, (pred - target).pow(2), 0).sum() / mask.sum()
            return loss
        """,
    ),
    (
        "masked_accuracy",
        SHAPE,
        """
        def f(pred, target):
            mask = target != -1
            return (pred[mask] == target[mask]).float().mean()  #<
        """,
        """
        def f(pred, target):
            mask = target != -1
            return torch.where(mask, (pred == target).float(), 0).sum() / mask.sum()
        """,
    ),
    (
        "masked_select",
        SHAPE,
        """
        def f(x, y):
            return torch.masked_select(x, y > 0).abs().sum() + x.masked_select(y > 0).sum()  #<
        """,
        """
        def f(x, y):
            return torch.where(y > 0, x.abs(), 0).sum() + torch.where(y > 0, x, 0).sum()
        """,
    ),
    (
        "named_selection",
        SHAPE,
        """
        def f(x):
            picked = x[x > 0]  #<
            return picked.sum() / 2 + picked.mean()
        """,
        """
        def f(x):
            keep = x > 0
            picked = torch.where(keep, x, 0)
            return picked.sum() / 2 + (picked.sum() / keep.sum())
        """,
    ),
    (
        "two_named_selections",
        SHAPE,
        """
        def f(x, y):
            m = y > 0
            a = x[m]  #<
            b = y[m]
            return ((a - b) ** 2).mean()
        """,
        """
        def f(x, y):
            m = y > 0
            a = torch.where(m, x, 0)
            b = torch.where(m, y, 0)
            return torch.where(m, (a - b) ** 2, 0).sum() / m.sum()
        """,
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
        """
        def f(x):
            score = x.sum(-1)
            keep = (score > 0).unsqueeze(-1)
            picked = torch.where(keep, x, 0)
            return torch.where(keep, picked.exp(), 0).flatten(0, -2).sum(0) / keep.sum()
        """,
    ),
    (
        "count_of_selected",
        SHAPE,
        """
        def f(x):
            n = len(x[x > 0])  #<
            return x.sum() / n + x.sum() / x[x > 0].shape[0]
        """,
        """
        def f(x):
            n = (x > 0).sum()
            return x.sum() / n + x.sum() / x[x > 0].shape[0]
        """,
    ),
    (
        "count_of_nonzero",
        SHAPE,
        """
        def f(x):
            return x.sum() / torch.nonzero(x).shape[0] + x.sum() * len(x.nonzero())  #<
        """,
        """
        def f(x):
            return x.sum() / torch.count_nonzero(x) + x.sum() * torch.count_nonzero(x)
        """,
    ),
    (
        "write_to_selected",
        SHAPE,
        """
        def f(x):
            y = x.exp()
            y[y > 2] *= 0.5  #<
            return y
        """,
        """
        def f(x):
            y = x.exp()
            y = torch.where(y > 2, y * 0.5, y)
            return y
        """,
    ),
    (
        "write_selected",
        SHAPE,
        """
        def f(x, z):
            y = x.exp()
            m = x > 0
            y[m] = z[m] + 1  #<
            return y
        """,
        """
        def f(x, z):
            y = x.exp()
            m = x > 0
            y = torch.where(m, z + 1, y)
            return y
        """,
    ),
    # --- others
    (
        "twins",
        "autograd_function",
        """
        def f(x, y):
            return Blend.apply(x, y, 2.0, x)  #<
        """,
        """
        def f(x, y):
            return Blend.apply(x, y, 2.0, x.clone())
        """,
    ),
    (
        "twins_of_an_attribute",
        "autograd_function",
        """
        def f(self, x):
            return Blend.apply(  #<
                self.w,
                self.w,
            )
        """,
        """
        def f(self, x):
            return Blend.apply(
                self.w,
                self.w.clone(),
            )
        """,
    ),
    (
        "loop_that_stacks",
        "container_length",
        """
        def f(xs: torch.Tensor):
            out = []
            for v in xs:
                out.append(v.sin() * 2 + 1)  #<
            return torch.stack(out)
        """,
        """
        def f(xs: torch.Tensor):
            return xs.sin() * 2 + 1
        """,
    ),
    (
        "loop_that_sums",
        "container_length",
        """
        def f(xs: torch.Tensor):
            out = []
            for v in xs:
                out.append(v ** 2)
            return 1 - sum(out)  #<
        """,
        """
        def f(xs: torch.Tensor):
            return 1 - (xs ** 2).sum(0)
        """,
    ),
]


@pytest.mark.parametrize(
    ("cause", "before", "after"), [c[1:] for c in OFFERED], ids=[c[0] for c in OFFERED]
)
def test_offered(cause: str, before: str, after: str) -> None:
    source, found = offered(code(before), cause)
    assert found, "nothing is offered"
    assert found[0].source == code(after)
    for each in found:
        ast.parse(each.source)
        assert each.source != source
        assert each.title
        assert "\n" not in each.title + each.caution


REFUSED = [
    ("append", BRANCH, "def f(x, out):\n    if x.sum() > 0:  #<\n        out.append(x)\n    return x"),
    ("append_inside", BRANCH, "def f(x, out):\n    y = out.append(x) if x.sum() > 0 else x  #<\n    return y"),
    ("attribute", BRANCH, "def f(self, x):\n    if x.sum() > 0:  #<\n        self.n = x\n    return x"),
    ("subscript", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        x[0] = 1\n    return x"),
    ("strings", BRANCH, "def f(x):\n    return 'a' if x.sum() > 0 else 'b'  #<"),
    ("none", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        return x\n    return None"),
    ("bare_return", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        return\n    return x"),
    ("objects", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        return Output(x)\n    return Output(-x)"),
    ("source_written", BRANCH, "def f(x):\n    y = x if x.any() else x.clone()  #<\n    x.add_(1)\n    return y"),
    ("source_written_to", BRANCH, "def f(x):\n    if x.any():  #<\n        y = x\n    else:\n        y = x + 1\n    x[0] = 1\n    return y"),
    ("loop_rows_written", "container_length", "def f(xs: torch.Tensor):\n    out = []\n    for v in xs:\n        out.append(v * 2)  #<\n    xs.zero_()\n    return torch.stack(out)"),
    ("text_condition", BRANCH, "def f(x, mode):\n    y = x if mode == 'a' else -x  #<\n    return y"),
    ("text_sum", BRANCH, "def f(x, s):\n    return 'a' + s if x.any() else s  #<"),
    ("no_conversion", NUMBER, "def f(x, flag):\n    if flag:  #<\n        x = x + 1\n    return x"),
    ("containers", BRANCH, "def f(x):\n    return list(x) if x.sum() > 0 else list(-x)  #<"),
    ("truths", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        return True\n    return False"),
    ("numbers_returned", BRANCH, "def f(x):\n    return 1 if x.sum() > 0 else 2  #<"),
    ("number_as_dim", BRANCH, "def f(x):\n    d = 0 if x.sum() > 0 else 1  #<\n    return x.cumsum(d)"),
    ("tuples", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        return x, x\n    return x, x, x"),
    ("tuple_and_tensor", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        return x, x\n    return x"),
    ("none_before", BRANCH, "def f(x):\n    y = None\n    if x.sum() > 0:  #<\n        y = x + 1\n    return y"),
    ("none_by_default", BRANCH, "def f(x, y=None):\n    if x.sum() > 0:  #<\n        y = x + 1\n    return y"),
    ("unbound_before", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        y = x + 1\n    return x"),
    ("other_names", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        a = x\n    else:\n        b = x\n    return x"),
    ("loop_inside", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        for _ in x:\n            x = x + 1\n    return x"),
    ("while", BRANCH, "def f(x):\n    while x.sum() > 0:  #<\n        x = x - 1\n    return x"),
    ("await", BRANCH, "async def f(x):\n    if x.sum() > 0:  #<\n        x = await g(x)\n    return x"),
    ("yield", BRANCH, "def f(x):\n    y = (yield x) if x.sum() > 0 else x  #<\n    return y"),
    ("walrus", BRANCH, "def f(x):\n    if (s := x.sum()) > 0:  #<\n        x = x + s\n    return x"),
    ("in_place_call", BRANCH, "def f(x):\n    y = x.add_(1) if x.sum() > 0 else x  #<\n    return y"),
    ("random", BRANCH, "def f(x):\n    y = torch.rand(3) if x.sum() > 0 else x  #<\n    return y"),
    ("batch_norm", BRANCH, "def f(self, x):\n    y = self.bn1(x) if x.sum() > 0 else x  #<\n    return y"),
    ("computed_index", BRANCH, "def f(x, i):\n    y = x[i] if i < 3 else x[0]  #<\n    return y"),
    ("python_condition_beside", BRANCH, "def f(x, flag):\n    if flag and x.sum() > 0:  #<\n        x = x + 1\n    return x"),
    ("none_check_beside", BRANCH, "def f(x, m):\n    if m is not None and m.any():  #<\n        x = x + m\n    return x"),
    ("python_truth", BRANCH, "def f(x, y):\n    if torch.equal(x, y):  #<\n        x = x + 1\n    return x"),
    ("augmented_parameter", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        x += 1\n    return x"),
    ("augmented_view", BRANCH, "def f(x):\n    y = x.view(-1)\n    if x.sum() > 0:  #<\n        y += 1\n    return x"),
    ("augmented_shared", BRANCH, "def f(x):\n    y = x + 1\n    z = y\n    if x.sum() > 0:  #<\n        y += 1\n    return z"),
    ("chosen_and_written", BRANCH, "def f(x, a, b):\n    y = a if x.sum() > 0 else b  #<\n    y[0] = 1\n    return y"),
    ("chosen_and_written_in_place", BRANCH, "def f(x, a, b):\n    if x.sum() > 0:  #<\n        y = a\n    else:\n        y = b\n    y.add_(1)\n    return x"),
    ("two_on_a_line", BRANCH, "def f(x):\n    return (x if x.sum() > 0 else -x) + (x if x.sum() > 1 else -x)  #<"),
    ("in_a_string", BRANCH, "def f(x):\n    return f'{x if x.sum() > 0 else -x}'  #<"),
    ("local_torch", BRANCH, "def f(x, torch):\n    y = x if x.sum() > 0 else -x  #<\n    return y"),
    ("elif_of_python", BRANCH, "def f(x, k):\n    if x.sum() > 0:  #<\n        y = x\n    elif k:\n        y = -x\n    else:\n        y = x + 1\n    return y"),
    ("raise_with_else", BRANCH, "def f(x):\n    if x.sum() > 0:  #<\n        raise ValueError\n    else:\n        x = x + 1\n    return x"),
    ("module_level", BRANCH, "x = torch.ones(2)\ny = x if x.sum() > 0 else -x  #<"),
    ("print_and_more", "print_call", "def f(x):\n    y = x + 1; print(y)  #<\n    return y"),
    ("more_and_print", "print_call", "def f(x):\n    print(x); y = x + 1  #<\n    return y"),
    ("print_used", "print_call", "def f(x):\n    y = print(x)  #<\n    return y"),
    ("print_with_effect", "print_call", "def f(x, xs):\n    print(xs.pop())  #<\n    return x"),
    ("print_that_writes", "print_call", "def f(x):\n    print(x.add_(1))  #<\n    return x"),
    ("print_guarded", "print_call", "def f(x):\n    if not torch.compiler.is_compiling():\n        print(x)  #<\n    return x"),
    ("print_in_a_loop_line", "print_call", "def f(x):\n    for i in x: print(i)  #<\n    return x"),
    ("print_in_if_with_else", "print_call", "def f(x, v):\n    if v: print(x)  #<\n    else: x = x + 1\n    return x"),
    ("other_call", "print_call", "def f(self, x):\n    self.report(x)  #<\n    return x"),
    ("log_that_is_math", "logging_call", "def f(x):\n    x.log(x)  #<\n    return x"),
    ("log_with_effect", "logging_call", "def f(log, it):\n    log.info(next(it))  #<\n    return it"),
    ("builtin_with_effect", "untraceable_builtin", "def f(x):\n    random.seed(0)  #<\n    return x"),
    ("clock_returned", "untraceable_builtin", "def f(x):\n    t = time.time()  #<\n    return x, t"),
    ("clock_compared", "untraceable_builtin", "def f(x):\n    t = time.time()\n    s = time.time() - t  #<\n    return x, s >= 0"),
    ("item_returned", NUMBER, "def f(x):\n    return x.sum().item()  #<"),
    ("item_plus_number_returned", NUMBER, "def f(x):\n    v = x.sum().item()  #<\n    return v + 1"),
    ("item_as_size", NUMBER, "def f(x):\n    n = x.sum().item()  #<\n    return torch.zeros(n)"),
    ("item_as_range", NUMBER, "def f(x):\n    n = x.sum().item()  #<\n    for _ in range(n):\n        x = x + 1\n    return x"),
    ("item_as_slice", NUMBER, "def f(x, n):\n    k = n.item()  #<\n    return x[:k]"),
    ("item_as_index", NUMBER, "def f(x, n):\n    return x[n.item()]  #<"),
    ("item_formatted", NUMBER, "def f(x):\n    s = f'{x.sum().item()}'  #<\n    return x"),
    ("item_repeats_a_list", NUMBER, "def f(x):\n    xs = [0] * x.sum().item()  #<\n    return xs"),
    ("item_stored", NUMBER, "def f(self, x):\n    self.n = x.sum().item()  #<\n    return x"),
    ("item_in_a_list", NUMBER, "def f(x):\n    n = x.sum().item()  #<\n    return [n]"),
    ("item_rebound", NUMBER, "def f(x):\n    n = x.sum().item()  #<\n    n = 2\n    return x.cos() * n"),
    ("item_as_dim", NUMBER, "def f(x, n):\n    d = n.item()  #<\n    return x.sum(d)"),
    ("item_in_while", NUMBER, "def f(x):\n    while x.sum().item() > 0:  #<\n        x = x - 1\n    return x"),
    ("item_beside_number_bound", NUMBER, "def f(x):\n    t = x.max().item()  #<\n    return x.clamp(min=0, max=t)"),
    ("item_in_math", NUMBER, "def f(x):\n    t = math.sqrt(x.max().item())  #<\n    return x.cos() * t"),
    ("int_cuts", NUMBER, "def f(x):\n    t = int(x.max())  #<\n    return x.cos() * t"),
    ("float_of_what", NUMBER, "def f(x, y):\n    t = float(y)  #<\n    return x.cos() * t"),
    ("tolist", NUMBER, "def f(x, n):\n    sizes = n.tolist()  #<\n    return torch.split(x, sizes)"),
    ("selection_returned", SHAPE, "def f(x):\n    return x[x > 0]  #<"),
    ("selection_maximum", SHAPE, "def f(x):\n    return x[x > 0].max()  #<"),
    ("selection_other_use", SHAPE, "def f(x):\n    p = x[x > 0]  #<\n    return p.sum() + p[0]"),
    ("selection_by_parameter", SHAPE, "def f(x, mask):\n    return x[mask].sum()  #<"),
    ("selection_with_tensor", SHAPE, "def f(x, y):\n    return (x[x > 0] * y).sum()  #<"),
    ("selection_two_masks", SHAPE, "def f(x, y):\n    return (x[x > 0] * y[y > 0]).sum()  #<"),
    ("selection_by_one_truth", SHAPE, "def f(x):\n    return x[x.sum() > 0].mean()  #<"),
    ("selection_mean_of_rows", SHAPE, "def f(x):\n    return x[x.sum(-1) > 0].mean()  #<"),
    ("selection_along", SHAPE, "def f(x, y):\n    return x[y > 0].sum(0)  #<"),
    ("count_as_size", SHAPE, "def f(x):\n    n = len(x[x > 0])  #<\n    return torch.zeros(n)"),
    ("nonzero_used", SHAPE, "def f(x):\n    return torch.nonzero(x)  #<"),
    ("write_to_parameter", SHAPE, "def f(x):\n    x[x > 0] += 1  #<\n    return x"),
    ("write_to_view", SHAPE, "def f(x):\n    y = x.view(-1)\n    y[y > 0] += 1  #<\n    return x"),
    ("twin_numbers", "autograd_function", "def f(x, n: int):\n    return Blend.apply(x, n, n)  #<"),
    ("no_twins", "autograd_function", "def f(x, y):\n    return Blend.apply(x, y)  #<"),
    ("loop_over_a_list", "container_length", "def f(xs):\n    out = []\n    for v in xs:\n        out.append(v * 2)  #<\n    return torch.stack(out)"),
    ("loop_with_tensor", "container_length", "def f(xs: torch.Tensor, w):\n    out = []\n    for v in xs:\n        out.append(v * w)  #<\n    return torch.stack(out)"),
    ("loop_list_used", "container_length", "def f(xs: torch.Tensor):\n    out = []\n    for v in xs:\n        out.append(v * 2)  #<\n    return torch.stack(out), out"),
    ("other_cause", "generator", "def f(x):\n    print(x)  #<\n    return x"),
    ("unknown_cause", "nonsense", "def f(x):\n    print(x)  #<\n    return x"),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "text"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_refused(cause: str, text: str) -> None:
    assert offered(HEAD + text + "\n", cause)[1] == ()


def test_a_second_rewrite_runs_one_side_only() -> None:
    before = """
    def f(self, x):
        if x.sum() > 0:  #<
            return self.warm(x)
        return self.cold(x)
    """
    after = """
    def f(self, x):
        return torch.cond(x.sum() > 0, self.warm, self.cold, (x,))
    """
    first, second = offered(code(before), BRANCH)[1]
    assert second.source == code(after)
    assert second.title == "Choose with torch.cond in place of the branch"
    assert "what their calls change" in first.caution


def test_a_second_rewrite_of_an_expression() -> None:
    before = "def f(x, y):\n    return hot(x, y) if x.any() else cold(x, y)  #<\n"
    after = "def f(x, y):\n    return torch.cond(x.any(), hot, cold, (x, y))\n"
    assert [each.source for each in offered(HEAD + before, BRANCH)[1]][1] == HEAD + after


def test_a_raise_becomes_an_assertion() -> None:
    before = (
        "def f(x):\n    if x.isnan().any():  #<\n        raise ValueError('nan')\n    return x\n"
    )
    after = "def f(x):\n    assert torch.logical_not(x.isnan().any()), 'nan'\n    return x\n"
    first, second = offered(HEAD + before, BRANCH)[1]
    assert second.source == HEAD + after
    assert first.caution == "the check is not made in compiled code"
    assert "ValueError" in second.caution


CAUTIONS = [
    (BRANCH, "def f(x):\n    return x.sin() if x.sum() > 0 else x  #<", "both sides are computed"),
    (BRANCH, "def f(x):\n    return x.log() if x.sum() > 0 else x  #<", "gradient NaN"),
    (BRANCH, "def f(x):\n    return x / 2 if x.sum() > 0 else x  #<", "gradient NaN"),
    (BRANCH, "def f(x):\n    return g(x) if x.sum() > 0 else x  #<", "what their calls change"),
    (BRANCH, "def f(x, c):\n    return x.sin() if c else x  #<", "the condition's dimensions"),
    ("print_call", "def f(x):\n    print(x)  #<", "not printed"),
    ("logging_call", "def f(log):\n    log.info(1)  #<", "not logged"),
    ("warnings_call", "def f(x):\n    warnings.warn('a')  #<", "not given"),
    (NUMBER, "def f(x):\n    return x.cos() * x.max().item()  #<", "the tensor's dtype"),
    (NUMBER, "def f(x):\n    return x.cos() * (1 / x.max().item())  #<", "division by zero"),
    (SHAPE, "def f(x, y):\n    return x[y > 0].sum()  #<", "the shape of what it selects from"),
    (SHAPE, "def f(x):\n    return x.sum() / len(x[x > 0])  #<", "the number is a tensor"),
    (SHAPE, "def f(x):\n    return x[x > 0].mean()  #<", "before it is divided"),
    (SHAPE, "def f(x):\n    return x[x > 0].log().sum()  #<", "gradient NaN"),
]


@pytest.mark.parametrize(("cause", "text", "says"), CAUTIONS)
def test_cautions(cause: str, text: str, says: str) -> None:
    assert says in offered(HEAD + text + "\n", cause)[1][0].caution


def test_a_plain_choice_has_a_short_caution() -> None:
    found = offered(HEAD + "def f(x):\n    return x.sin() if x.sum() > 0 else x  #<\n", BRANCH)[1]
    assert found[0].caution == (
        "both sides are computed, and the result is a new tensor of their common dtype"
    )
    found = offered(HEAD + "def f(x):\n    return x[x > 0].sum()  #<\n", SHAPE)[1]
    assert found[0].caution == ""


PRINT = "def f(x):\n    print(x)  #<\n    return x\n"
GUARDED = "def f(x):\n    if not {}.compiler.is_compiling():\n        print(x)\n    return x\n"
IMPORTS = [
    ("import torch as th\n", "import torch as th\n", "th"),
    (
        "import torch.nn.functional as F\n",
        "import torch.nn.functional as F\nimport torch\n",
        "torch",
    ),
    ("import torch.nn\n", "import torch.nn\n", "torch"),
    ("from torch import nn\n", "from torch import nn\nimport torch\n", "torch"),
    ("try:\n    import torch\nexcept ImportError:\n    raise\n",) * 2 + ("torch",),
    ("", "import torch\n\n\n", "torch"),
    ("#!/usr/bin/env python\n", "#!/usr/bin/env python\nimport torch\n\n\n", "torch"),
    ('"""Doc."""\n', '"""Doc."""\n\nimport torch\n', "torch"),
    (
        '"""Doc."""\nfrom __future__ import annotations\nimport os  # kept\n\nN = 1\n',
        '"""Doc."""\nfrom __future__ import annotations\nimport os  # kept\nimport torch\n\nN = 1\n',
        "torch",
    ),
    ("import os; N = 1\n", None, ""),
    ("torch = None\n", None, ""),
    ("from torchlike import torch\n", None, ""),
    ("from pkg import *\n", None, ""),
    ("if True:\n    import torch\n", None, ""),
]


@pytest.mark.parametrize(("head", "new", "name"), IMPORTS)
def test_the_name_for_torch(head: str, new: str | None, name: str) -> None:
    found = offered(head + PRINT, "print_call")[1]
    assert [each.source for each in found] == ([] if new is None else [new + GUARDED.format(name)])


def test_torch_imported_in_the_function() -> None:
    text = "def f(x):\n    import torch as t\n    print(x)  #<\n"
    after = "def f(x):\n    import torch as t\n    if not t.compiler.is_compiling():\n        print(x)\n"
    assert offered(text, "print_call")[1][0].source == after


def test_no_import_where_torch_is_not_named() -> None:
    text = "def f(x):\n    return x.cos() * x.max().item()  #<\n"
    assert (
        offered(text, NUMBER)[1][0].source == "def f(x):\n    return x.cos() * x.max().detach()\n"
    )


def test_the_diff() -> None:
    source = "import torch\n\n\ndef f(x):\n    y = x\n    print(x)\n    a = 1\n    b = 2\n    c = 3\n    return y"
    (found,) = rewrites(source, "pkg/model.py", 6, "print_call")
    assert found.diff == (
        "--- pkg/model.py\n"
        "+++ pkg/model.py\n"
        "@@ -3,7 +3,8 @@\n"
        " \n"
        " def f(x):\n"
        "     y = x\n"
        "-    print(x)\n"
        "+    if not torch.compiler.is_compiling():\n"
        "+        print(x)\n"
        "     a = 1\n"
        "     b = 2\n"
        "     c = 3\n"
    )


def test_the_diff_of_a_last_line_without_end() -> None:
    (found,) = rewrites("import torch\ndef f(x):\n    print(x)", "a b.py", 3, "print_call")
    assert found.diff == (
        "--- a b.py\t\n"
        "+++ a b.py\t\n"
        "@@ -1,3 +1,4 @@\n"
        " import torch\n"
        " def f(x):\n"
        "-    print(x)\n"
        "\\ No newline at end of file\n"
        "+    if not torch.compiler.is_compiling():\n"
        "+        print(x)\n"
        "\\ No newline at end of file\n"
    )


def test_the_diff_names_the_line_that_changes_among_equal_ones() -> None:
    source = "import torch\ndef f(x):\n" + "    print(x)\n" * 6 + "    return x\n"
    (found,) = rewrites(source, "model.py", 3, "print_call")
    assert found.diff == (
        "--- model.py\n"
        "+++ model.py\n"
        "@@ -1,6 +1,7 @@\n"
        " import torch\n"
        " def f(x):\n"
        "-    print(x)\n"
        "+    if not torch.compiler.is_compiling():\n"
        "+        print(x)\n"
        "     print(x)\n"
        "     print(x)\n"
        "     print(x)\n"
    )


def test_positions_behind_letters_of_several_bytes() -> None:
    before = "def f(x):\n    é = 'ü→𝔘'; y = {'ß': x.sin() if x.sum() > 0 else x}  # ö  #<\n    return y\n"
    after = "def f(x):\n    é = 'ü→𝔘'; y = {'ß': torch.where(x.sum() > 0, x.sin(), x)}  # ö\n    return y\n"
    assert offered(HEAD + before, BRANCH)[1][0].source == HEAD + after


def test_a_byte_order_mark_stays() -> None:
    (found,) = rewrites("\ufeff" + HEAD + PRINT.replace(MARK, ""), "a.py", 5, "print_call")
    assert found.source == "\ufeff" + HEAD + GUARDED.format("torch")


NOTHING = [
    ("def f(x:\n    print(x)\n", "a.py", 2),
    ("def f(x):\n    print(x)\n", "a.py", 0),
    ("def f(x):\n    print(x)\n", "a.py", -1),
    ("def f(x):\n    print(x)\n", "a.py", 99),
    ("def f(x):\n    print(x)\n", "<string>", 2),
    ("def f(x):\n    print(x)\n", "a.ipynb", 2),
    ("def f(x):\r    print(x)\r", "a.py", 2),
    ("def f(x):\n    print(x)\0\n", "a.py", 2),
    ("def f(x):\n    print('\ud800')\n", "a.py", 2),
    ("", "a.py", 1),
    ("(" * 5000, "a.py", 1),
    ("x = " + "-" * 50_000 + "1\n", "a.py", 1),
]


@pytest.mark.parametrize(("source", "file", "line"), NOTHING)
def test_nothing_for_what_is_not_code(source: str, file: str, line: int) -> None:
    assert rewrites(source, file, line, "print_call") == ()


NAMES = st.sampled_from(["x", "y", "self.w", "résumé"])
COMMENTS = st.sampled_from(["", "  # why", "  # ü → 𝔘", " #", "   "])
FILLERS = st.sampled_from(
    [
        "",
        "# a comment",
        "pass",
        "k = 'ä\tb'",
        's = """one\n  two\nthree"""',
        "z = (1,\n      2)",
        "   ",
    ]
)
PATTERNS = [
    (BRANCH, ["if x.sum() > 0:{c}", "{u}y = x + 1{c}", "else:", "{u}y = x - 1{c}"], 0),
    (BRANCH, ["y = x * 2", "if x.sum() > 0:{c}", "{u}y *= 3"], 1),
    (BRANCH, ["y = x.sin() if x.any() else (", "{u}x", ")"], 0),
    (BRANCH, ["if x.any():{c}", "{u}raise ValueError('ü'){c}"], 0),
    ("print_call", ["print('ü',{c}", "{u}x.sum().item(){c}", "){c}"], 1),
    ("print_call", ['print("""a', "  b{c}", '"""){c}'], 0),
    ("logging_call", ["log.info('%s', x){c}"], 0),
    (NUMBER, ["v = x.max().item(){c}", "x = x.cos() * v{c}"], 0),
    (SHAPE, ["y = x[x > 0].mean(){c}"], 0),
    (SHAPE, ["y = x[x > 0]{c}", "z = y.exp().sum() + 1{c}"], 0),
    ("autograd_function", ["y = Blend.apply({n}, 1, {n}){c}"], 0),
]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, int, int, str]:
    """A file around a pattern, the pattern's first line, the line of the break, and its cause."""
    cause, pattern, at = draw(st.sampled_from(PATTERNS))
    unit = draw(st.sampled_from(["    ", "  ", "\t", " "]))
    depth = draw(st.integers(0, 2))
    lines = draw(st.sampled_from([["import torch"], ["import torch as th"], [], ['"""Doc."""']]))
    lines = [*lines, "", "def f(self, x, résumé, log):" + draw(COMMENTS)]
    for level in range(1, depth + 1):
        lines.append(
            unit * level + draw(st.sampled_from(["if self:", "for i in self:", "with self:"]))
        )
    inner = unit * (depth + 1)
    lines += [inner + part for part in draw(st.lists(FILLERS, max_size=3))]
    first = len("\n".join(lines).split("\n")) + 1
    name = draw(NAMES)
    lines += [inner + p.format(c=draw(COMMENTS), u=unit, n=name) for p in pattern]
    lines += [inner + part for part in draw(st.lists(FILLERS, max_size=3))]
    lines += ["", "def g():", unit + "return 1"]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(lines).replace("\n", end) + draw(st.sampled_from(["", end]))
    return draw(st.sampled_from(["", "\ufeff"])) + text, first, first + at, cause


@given(programs())
@settings(max_examples=150, deadline=None)
def test_a_diff_gives_the_source_and_the_rest_stays(
    tmp_path_factory: pytest.TempPathFactory, program: tuple[str, int, int, str]
) -> None:
    source, first, line, cause = program
    found = rewrites(source, "model.py", line, cause)
    assert found, "the pattern is one that is offered"
    folder = tmp_path_factory.mktemp("patched")
    for each in found:
        ast.parse(each.source.removeprefix("\ufeff"))
        (folder / "model.py").write_bytes(source.encode())
        assert apply_diff(source, each.diff) == each.source
        if shutil.which("patch"):
            patched = subprocess.run(
                ["patch", "--binary", "-s", "-p0"],
                cwd=folder,
                input=each.diff.encode(),
                check=False,
            )
            assert patched.returncode == 0
            assert (folder / "model.py").read_bytes() == each.source.encode()
        above = "\n".join(source.split("\n")[: first - 1])
        assert above[above.index("def f") :] in each.source
        assert each.source.endswith(source[source.rindex("def g") :])
        assert each.source.count("\r") == (each.source.count("\n") if "\r" in source else 0)


def apply_diff(source: str, diff: str) -> str:
    """A unified diff applied, with every line it does not change checked."""
    old = re.findall(r"[^\n]*\n|[^\n]+", source)
    new: list[str] = []
    at = 0
    diff = re.sub(r"\n\\ No newline at end of file\n", "\0", diff)
    for hunk in re.split(r"^@@ ", diff, flags=re.MULTILINE)[1:]:
        head, *lines = re.findall(r"[^\n\0]*[\n\0]", hunk)
        start = int(re.match(r"-(\d+)", head)[1]) - 1
        new += old[at:start]
        at = start
        for mark, text in ((part[0], part[1:].replace("\0", "")) for part in lines):
            if mark != "+":
                assert old[at] == text
                at += 1
            if mark != "-":
                new.append(text)
    return "".join(new + old[at:])


@given(
    st.text(max_size=60), st.integers(-2, 9), st.sampled_from([BRANCH, NUMBER, SHAPE, "print_call"])
)
@settings(max_examples=200, deadline=None)
def test_never_raises_on_any_text(text: str, line: int, cause: str) -> None:
    rewrites(text, "a.py", line, cause)


CAUSES = [BRANCH, NUMBER, SHAPE, "print_call", "untraceable_builtin", "container_length"]


@pytest.mark.parametrize("cause", CAUSES)
def test_never_raises_on_any_line_of_a_program(cause: str) -> None:
    path = Path(__file__).with_name("test_rewrites_run.py")
    source = path.read_text()
    for line in range(0, len(source.splitlines()) + 2, 3):
        for each in rewrites(source, path.name, line, cause):
            ast.parse(each.source)
