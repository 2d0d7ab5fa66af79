"""Runs one case in this process and says what came out.

The steps and the seeds are those by which the cases were measured: the generators of torch,
random and NumPy are seeded before ``make()`` and before every call; each call's outputs, tensor
arguments and buffers are looked at afterwards, and with ``BACKWARD`` the gradients too.
"""

import functools
import importlib.util
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

import torch

from casework.digest import digest, flat, generators, short


class Call(TypedDict):
    """What one call of the case did."""

    error: str | None
    type: str | None
    values: dict[str, str]
    generators: dict[str, str]


class Outcome(TypedDict):
    """What a case did under one backend; ``ended`` says why there are no (further) calls."""

    ended: str
    calls: list[Call]
    written: list[str]
    printed: str
    seconds: float


def run(path: Path, backend: str, options: dict[str, object]) -> Outcome:
    """Runs the case; what its ``make`` or its import raises ends it, and is part of the outcome."""
    began = time.perf_counter()
    outcome = Outcome(ended="", calls=[], written=[], printed="", seconds=0.0)
    try:
        case = load(path)
        seed()
        target, calls = case.make()
        compiled = _compile(case, target, backend, options)
        for i, args in enumerate(calls):
            outcome["calls"].append(_call(case, target, compiled, i, args))
    except ImportError as error:
        outcome["ended"] = f"needs {error.name or error}"
    except Exception as error:  # noqa: BLE001 whatever it is, it is the outcome
        outcome["ended"] = _named(error)
    outcome["written"] = sorted(os.listdir())
    outcome["seconds"] = round(time.perf_counter() - began, 2)
    return outcome


def load(path: Path) -> ModuleType:
    """Imports the case under its file's name, so that messages read as a user's would."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} is no Python file")
    case = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = case
    spec.loader.exec_module(case)
    return case


def _compile(
    case: Any, target: Any, backend: str, options: dict[str, object]
) -> Callable[..., Any]:
    keywords = dict(getattr(case, "COMPILE", {}))
    merged = {**keywords.pop("options", {}), **options}
    compile_ = functools.partial(
        torch.compile, backend=backend, **keywords, **({"options": merged} if merged else {})
    )
    if hasattr(case, "compile_with"):
        return case.compile_with(target, compile_)
    return compile_(target)


def _call(case: Any, target: Any, compiled: Any, i: int, args: tuple[Any, ...]) -> Call:
    if hasattr(case, "before_call"):
        case.before_call(i, target)
    seed()
    backward = getattr(case, "BACKWARD", False)
    call = Call(error=None, type=None, values={}, generators={})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = case.call(compiled, args) if hasattr(case, "call") else compiled(*args)
            if backward:
                sum(differentiable(out)).backward()
            call["type"] = _type_of(out)
            call["values"] = {path: digest(value) for path, value in flat(out)}
        except Exception as error:  # noqa: BLE001 whatever it is, it is the outcome
            call["error"] = _named(error)
    for path, value in _around(target, args, backward):
        call["values"][path] = digest(value)
    call["generators"] = generators()
    return call


def _around(target: Any, args: tuple[Any, ...], backward: bool) -> Iterator[tuple[str, object]]:
    """What a call may have changed besides giving its output."""
    for i, arg in enumerate(args):
        for path, value in flat(arg, f"arg{i}"):
            if isinstance(value, torch.Tensor):
                yield path, value
        if backward and isinstance(arg, torch.Tensor) and arg.requires_grad:
            yield f"arg{i}.grad", arg.grad
    if isinstance(target, torch.nn.Module):
        if backward:
            yield from ((f"{name}.grad", p.grad) for name, p in target.named_parameters())
        yield from ((f"buffer {name}", b) for name, b in target.named_buffers())


def differentiable(out: object) -> Iterator[torch.Tensor]:
    """Sums of the outputs that a backward pass starts from."""
    for _, value in flat(out):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            yield value.float().sum()


def _type_of(out: object) -> str:
    name = type(out).__name__
    if type(out) in (tuple, list):
        name += "(" + ",".join(type(item).__name__ for item in out) + ")"
    return name


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {short(str(error))}"


def seed() -> None:
    """Seeds every generator as the cases were measured."""
    torch.manual_seed(1234)
    random.seed(1234)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(1234)
